import fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { RequestTimes } from '../../src/host/request-times.ts'

const BOUNDS = [0.001, 0.01, 0.1]
const NAME = 'seconds_of_requests'

describe('times of requests', () => {
  it('read as those of the library do', async () => {
    const seen = fc.record({
      method: fc.constantFrom('GET', 'POST'),
      route: fc.constantFrom('/a/:id', '/b', 'none'),
      status: fc.constantFrom(200, 404, 500),
      seconds: fc.oneof(fc.constantFrom(0, ...BOUNDS), fc.double({ min: 0, max: 1, noNaN: true })),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(seen), async (all) => {
        const [ours, theirs] = [new Registry(), new Registry()]
        const times = new RequestTimes(NAME, 'how long', BOUNDS)
        ours.registerMetric(times.asMetric)
        const histogram = new Histogram({
          name: NAME,
          help: 'how long',
          labelNames: ['method', 'route', 'status'],
          buckets: BOUNDS,
          registers: [theirs],
        })
        for (const { method, route, status, seconds } of all) {
          times.observe(method, route, status, seconds)
          histogram.observe({ method, route, status }, seconds)
        }
        expect(sorted(await ours.metrics())).toEqual(sorted(await theirs.metrics()))
      }),
    )
  })
})

/** Sorts lines and the labels in them, since their order has no meaning. */
function sorted(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`))
    .sort()
}
