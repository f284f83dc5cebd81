/* Gappletron by hand: smooth hinge, bandit feedback, the printed rule, unprojected descent.

   The yardstick of engine.py. It plays the same rounds as the engine with the same uniforms, and adds in the
   same order, so that mistakes and weights agree to the last bit. K is fixed when it is compiled:

       gcc -O3 -march=native -ffp-contract=off -DKC=12 -shared -fPIC gappletron.c -o gappletron.so -lm     */

#include <math.h>
#include <stdint.h>

/* Features in compressed sparse rows; weights of shape (features, KC); totals: expected error, mistakes, loss. */
void play(int64_t rounds, const int64_t *indptr, const int64_t *indices, const double *values,
          const double *squared_norms, const int64_t *labels, const double *uniforms, double gamma,
          double *weights, double *totals)
{
    double counter = 0.0, gradients = 0.0;
    for (int64_t t = 0; t < rounds; t++) {
        const int64_t first = indptr[t], last = indptr[t + 1], label = labels[t];

        double sums[KC] = {0.0}; /* apart from scores, which are indexed later: these stay in registers */
        for (int64_t j = first; j < last; j++) {
            const double *row = weights + indices[j] * KC;
            const double x = values[j];
            for (int k = 0; k < KC; k++)
                sums[k] += row[k] * x;
        }
        double scores[KC];
        for (int k = 0; k < KC; k++)
            scores[k] = sums[k];

        int best = 0, runner = 1;
        if (scores[1] > scores[0]) {
            best = 1;
            runner = 0;
        }
        for (int k = 2; k < KC; k++) {
            if (scores[k] > scores[best]) {
                runner = best;
                best = k;
            } else if (scores[k] > scores[runner]) {
                runner = k;
            }
        }

        const double lack = 1.0 - (scores[best] - scores[runner]);
        const double gap = lack > 0.0 ? lack * lack : 0.0;
        counter += 1.0;
        double rate = gamma / sqrt(counter);
        if (rate > 0.5)
            rate = 0.5;
        const double mixed = rate <= gap ? gap : rate;
        double p[KC];
        for (int k = 0; k < KC; k++)
            p[k] = mixed / KC;
        p[best] += 1.0 - mixed;

        int action = 0;
        double cumulative = 0.0;
        for (int k = 0; k < KC; k++) {
            if (p[k] > 0.0) {
                action = k;
                cumulative += p[k];
                if (uniforms[t] < cumulative)
                    break;
            }
        }

        const int rival = label == best ? runner : best;
        const double margin = scores[label] - scores[rival];
        double slope = 0.0, loss = 0.0;
        if (margin <= 0.0) {
            slope = -2.0;
            loss = 1.0 - 2.0 * margin;
        } else if (margin < 1.0) {
            slope = -2.0 * (1.0 - margin);
            loss = (1.0 - margin) * (1.0 - margin);
        }
        totals[0] += 1.0 - p[label];
        totals[1] += action != label;
        totals[2] += loss;

        if (action == label && slope != 0.0) {
            const double importance = 1.0 / p[label];
            gradients += importance * importance * (slope * slope + slope * slope) * squared_norms[t];
            const double factor = importance / sqrt(1e-8 + gradients);
            for (int64_t j = first; j < last; j++) { /* two labels move; the engine subtracts zero from the others */
                weights[indices[j] * KC + label] -= values[j] * (factor * slope);
                weights[indices[j] * KC + rival] -= values[j] * (factor * -slope);
            }
        }
    }
}
