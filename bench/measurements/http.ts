/** What the frame of the host costs on top of a bare fastify route with the same bodies. */
import { digits, median, rate } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { HttpSample, HttpSubject } from '../samples/http.ts'

const SUBJECTS: readonly { subject: HttpSubject; title: string }[] = [
  { subject: 'bare', title: 'a bare fastify route' },
  { subject: 'host', title: 'the same behind the frame of the host' },
]

export const http = measurement<'http'>({
  name: 'http',
  title: 'HTTP: a POST with a task from a template, 32 connections',
  lines: ({ measureMs }) =>
    SUBJECTS.map(({ subject, title }): LinePlan<'http'> => {
      return { name: subject, title, request: { kind: 'http', subject, measureMs } }
    }),
  cost: micros,
  costUnit: 'us/request',
  head: ['server', 'requests/s and core', 'us/request', 'min', 'max', 'x bare'],
  cells({ samples }, all) {
    const costs = samples.map(micros)
    const bare = all.find(({ name }) => name === 'bare')?.samples.map(micros) ?? []
    return [
      rate(1e6 / median(costs)),
      digits(median(costs)),
      digits(Math.min(...costs)),
      digits(Math.max(...costs)),
      bare.length === 0 ? '' : digits(median(costs) / median(bare)),
    ]
  },
})

function micros({ cpuMs, requests }: HttpSample): number {
  return (cpuMs * 1000) / requests
}
