"""Adjoints written by hand of three of the examples, compiled by Numba: what an emitted adjoint can reach.

Each takes the arguments of the primal and returns the gradients by the arrays that the example differentiates.
"""

import math

import numba
import numpy as np


@numba.njit
def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@numba.njit
def _gmm_finish(alphas, icf, gamma, m, n, qdiag, dqd, da, di):
    k, d = qdiag.shape
    mx = alphas.max()
    se = 0.0
    for ik in range(k):
        se += math.exp(alphas[ik] - mx)
    for ik in range(k):
        dsum_q = da[ik] - m
        for i in range(d):
            q = qdiag[ik, i]
            di[ik, i] = dsum_q + (dqd[ik, i] + gamma * gamma * q) * q
        for i in range(d, icf.shape[1]):
            di[ik, i] += gamma * gamma * icf[ik, i]
        da[ik] -= n * math.exp(alphas[ik] - mx) / se


@numba.njit
def gmm_gradient(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    k = alphas.shape[0]
    qdiag = np.exp(icf[:, :d])
    sum_q = np.zeros(k)
    for ik in range(k):
        for i in range(d):
            sum_q[ik] += icf[ik, i]
    da = np.zeros(k)
    dm = np.zeros((k, d))
    di = np.zeros(icf.shape)
    dqd = np.zeros((k, d))
    xc = np.empty((k, d))
    qx = np.empty((k, d))
    term = np.empty(k)
    dxc = np.empty(d)
    for ix in range(n):
        for ik in range(k):
            for i in range(d):
                xc[ik, i] = x[ix, i] - means[ik, i]
                qx[ik, i] = qdiag[ik, i] * xc[ik, i]
            pos = d
            for i in range(d):
                for j in range(i + 1, d):
                    qx[ik, j] += icf[ik, pos] * xc[ik, i]
                    pos += 1
            sq = 0.0
            for i in range(d):
                sq += qx[ik, i] * qx[ik, i]
            term[ik] = alphas[ik] + sum_q[ik] - 0.5 * sq
        mx = term[0]
        for ik in range(1, k):
            if term[ik] > mx:
                mx = term[ik]
        se = 0.0
        for ik in range(k):
            term[ik] = math.exp(term[ik] - mx)
            se += term[ik]
        for ik in range(k):
            w = term[ik] / se
            da[ik] += w
            for i in range(d):
                g = -w * qx[ik, i]
                dqd[ik, i] += g * xc[ik, i]
                dxc[i] = g * qdiag[ik, i]
            pos = d
            for i in range(d):
                s = 0.0
                wx = -w * xc[ik, i]
                for j in range(i + 1, d):
                    di[ik, pos] += wx * qx[ik, j]
                    s += icf[ik, pos] * qx[ik, j]
                    pos += 1
                dxc[i] -= w * s
            for i in range(d):
                dm[ik, i] -= dxc[i]
    _gmm_finish(alphas, icf, gamma, m, n, qdiag, dqd, da, di)
    return da, dm, di


@numba.njit
def lstm_gradient(main, extra, state, seq):
    layers, b, c = main.shape[0], main.shape[3], seq.shape[0]
    st = np.empty((c, layers, 2, b))
    gate = np.empty((c, layers, 5, b))
    ypred = np.empty(b)
    dm = np.zeros(main.shape)
    de = np.zeros(extra.shape)
    st[0] = state
    for t in range(c - 1):
        for k in range(layers):
            for i in range(b):
                if k == 0:
                    y = seq[t, i] * extra[0, i]
                else:
                    y = st[t + 1, k - 1, 0, i]
                h = st[t, k, 0, i]
                f = sigmoid(y * main[k, 0, 0, i] + main[k, 1, 0, i])
                g = sigmoid(h * main[k, 0, 1, i] + main[k, 1, 1, i])
                o = sigmoid(y * main[k, 0, 2, i] + main[k, 1, 2, i])
                ch = math.tanh(h * main[k, 0, 3, i] + main[k, 1, 3, i])
                cell = st[t, k, 1, i] * f + g * ch
                th = math.tanh(cell)
                st[t + 1, k, 1, i] = cell
                st[t + 1, k, 0, i] = o * th
                gate[t, k, 0, i] = f
                gate[t, k, 1, i] = g
                gate[t, k, 2, i] = o
                gate[t, k, 3, i] = ch
                gate[t, k, 4, i] = th
    scale = -1.0 / ((c - 1) * b)
    dst = np.zeros((layers, 2, b))
    dy = np.empty(b)
    for t in range(c - 2, -1, -1):
        se = 2.0
        tot = 0.0
        for i in range(b):
            ypred[i] = math.exp(st[t + 1, layers - 1, 0, i] * extra[1, i] + extra[2, i])
            se += ypred[i]
            tot += seq[t + 1, i]
        for i in range(b):
            g = scale * (seq[t + 1, i] - tot * ypred[i] / se)
            de[1, i] += g * st[t + 1, layers - 1, 0, i]
            de[2, i] += g
            dy[i] = g * extra[1, i]
        for k in range(layers - 1, -1, -1):
            for i in range(b):
                if k == 0:
                    y = seq[t, i] * extra[0, i]
                else:
                    y = st[t + 1, k - 1, 0, i]
                h = st[t, k, 0, i]
                f, g, o = gate[t, k, 0, i], gate[t, k, 1, i], gate[t, k, 2, i]
                ch, th = gate[t, k, 3, i], gate[t, k, 4, i]
                dh = dst[k, 0, i] + dy[i]
                dcell = dst[k, 1, i] + dh * o * (1.0 - th * th)
                do = dh * th * o * (1.0 - o)
                df = dcell * st[t, k, 1, i] * f * (1.0 - f)
                dg = dcell * ch * g * (1.0 - g)
                dch = dcell * g * (1.0 - ch * ch)
                dst[k, 1, i] = dcell * f
                dm[k, 0, 0, i] += df * y
                dm[k, 1, 0, i] += df
                dm[k, 0, 1, i] += dg * h
                dm[k, 1, 1, i] += dg
                dm[k, 0, 2, i] += do * y
                dm[k, 1, 2, i] += do
                dm[k, 0, 3, i] += dch * h
                dm[k, 1, 3, i] += dch
                dst[k, 0, i] = dg * main[k, 0, 1, i] + dch * main[k, 0, 3, i]
                dy[i] = df * main[k, 0, 0, i] + do * main[k, 0, 2, i]
        for i in range(b):
            de[0, i] += dy[i] * seq[t, i]
    return dm, de


@numba.njit
def ba_gradient(cams, X, w, obs, feats):
    dc = np.zeros(cams.shape)
    dX = np.zeros(X.shape)
    dw = np.zeros(w.shape)
    for o in range(obs.shape[0]):
        ci = obs[o, 0]
        pi = obs[o, 1]
        cam = cams[ci]
        r0, r1, r2 = cam[0], cam[1], cam[2]
        x0 = X[pi, 0] - cam[3]
        x1 = X[pi, 1] - cam[4]
        x2 = X[pi, 2] - cam[5]
        sq = r0 * r0 + r1 * r1 + r2 * r2
        if sq != 0.0:
            theta = math.sqrt(sq)
            co = math.cos(theta)
            si = math.sin(theta)
            inv = 1.0 / theta
            w0, w1, w2 = r0 * inv, r1 * inv, r2 * inv
            dot = w0 * x0 + w1 * x1 + w2 * x2
            t = dot * (1.0 - co)
            k0 = w1 * x2 - w2 * x1
            k1 = w2 * x0 - w0 * x2
            k2 = w0 * x1 - w1 * x0
            c0 = x0 * co + k0 * si + w0 * t
            c1 = x1 * co + k1 * si + w1 * t
            c2 = x2 * co + k2 * si + w2 * t
        else:
            c0 = x0 + r1 * x2 - r2 * x1
            c1 = x1 + r2 * x0 - r0 * x2
            c2 = x2 + r0 * x1 - r1 * x0
        ic = 1.0 / c2
        u = c0 * ic
        v = c1 * ic
        q = u * u + v * v
        lens = 1.0 + cam[9] * q + cam[10] * q * q
        ul, vl = u * lens, v * lens
        p0 = ul * cam[6] + cam[7] - feats[o, 0]
        p1 = vl * cam[6] + cam[8] - feats[o, 1]
        wo = w[o]
        # reverse
        e = 1.0 - wo * wo
        dw[o] = 2.0 * wo * (p0 * p0 + p1 * p1) - 4.0 * e * wo
        d0 = 2.0 * wo * wo * p0
        d1 = 2.0 * wo * wo * p1
        dc[ci, 7] += d0
        dc[ci, 8] += d1
        dc[ci, 6] += d0 * ul + d1 * vl
        d0 *= cam[6]
        d1 *= cam[6]
        dl = d0 * u + d1 * v
        dc[ci, 9] += dl * q
        dc[ci, 10] += dl * q * q
        dq = dl * (cam[9] + 2.0 * cam[10] * q)
        du = d0 * lens + 2.0 * u * dq
        dv = d1 * lens + 2.0 * v * dq
        g0 = du * ic
        g1 = dv * ic
        g2 = -(du * u + dv * v) * ic
        if sq != 0.0:
            dco = g0 * x0 + g1 * x1 + g2 * x2
            dsi = g0 * k0 + g1 * k1 + g2 * k2
            dt = g0 * w0 + g1 * w1 + g2 * w2
            h0, h1, h2 = g0 * si, g1 * si, g2 * si
            a0, a1, a2 = g0 * t, g1 * t, g2 * t
            b0, b1, b2 = g0 * co, g1 * co, g2 * co
            dd = dt * (1.0 - co)
            dco -= dt * dot
            a0 += dd * x0 + h2 * x1 - h1 * x2
            a1 += dd * x1 + h0 * x2 - h2 * x0
            a2 += dd * x2 + h1 * x0 - h0 * x1
            b0 += dd * w0 + h1 * w2 - h2 * w1
            b1 += dd * w1 + h2 * w0 - h0 * w2
            b2 += dd * w2 + h0 * w1 - h1 * w0
            dinv = a0 * r0 + a1 * r1 + a2 * r2
            dth = -dinv * inv * inv + dsi * co - dco * si
            s = dth * inv
            dc[ci, 0] += a0 * inv + s * r0
            dc[ci, 1] += a1 * inv + s * r1
            dc[ci, 2] += a2 * inv + s * r2
        else:
            b0 = g0 + g1 * r2 - g2 * r1
            b1 = g1 + g2 * r0 - g0 * r2
            b2 = g2 + g0 * r1 - g1 * r0
            dc[ci, 0] += g2 * x1 - g1 * x2
            dc[ci, 1] += g0 * x2 - g2 * x0
            dc[ci, 2] += g1 * x0 - g0 * x1
        dc[ci, 3] -= b0
        dc[ci, 4] -= b1
        dc[ci, 5] -= b2
        dX[pi, 0] += b0
        dX[pi, 1] += b1
        dX[pi, 2] += b2
    return dc, dX, dw
