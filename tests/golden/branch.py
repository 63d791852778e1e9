def friction_adjoint(re, roughness, f_bar=1.0):
    """Adjoint of `friction`: gradient of f with respect to (re, roughness)."""
    roughness_bar = 0.0
    if re < 2300.0:
        f = div(64.0, re)
        # f = 64.0 / re
        re_bar = -(f * f_bar / re)
    else:
        s = roughness / 3.7 + div(5.74, power(re, 0.9))
        f = 0.25 / np.log10(s) ** 2
        # f = 0.25 / np.log10(s) ** 2
        log10_s = np.log10(s)
        s_bar = -(0.8685889638065036 * f * log10_s * f_bar / log10_s ** 2 / s)
        # s = roughness / 3.7 + 5.74 / re ** 0.9
        roughness_bar += s_bar / 3.7
        t = re ** 0.9
        re_bar = strong(-(5.74 * s_bar / t / t), 0.9 * np.power(re, -0.1))
    return re_bar, roughness_bar
