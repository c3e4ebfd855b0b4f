/** Webscripts over HTTP beside a bare route: calls, lateness at a fixed rate, starts, and an answer of 100 MB. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { WebscriptsSample, WebscriptsSubject } from '../samples/webscripts.ts'

const SUBJECTS: readonly { readonly subject: WebscriptsSubject; readonly title: string }[] = [
  { subject: 'bare', title: 'a bare fastify route' },
  { subject: 'node', title: 'a webscript in Node' },
  { subject: 'python', title: 'a webscript in Python' },
  { subject: 'node-paced', title: 'in Node, 7,000 calls a second' },
  { subject: 'cold', title: 'in Node, no process yet' },
  { subject: 'stream', title: 'in Node, 100 MB in pieces (bytes a second)' },
]

export const webscripts = measurement<'webscripts'>({
  name: 'webscripts',
  title: 'Webscripts: GET over 32 kept connections, by the clock, beside a client on the same cores',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'webscripts', subject },
      maxRounds: 5,
    })),
  cost: ({ p99 }) => p99 * 1_000,
  costUnit: 'us p99',
  head: ['answers', 'a second', 'of the bare route', 'ms p50 / p99', 'CPU us each: host, script', 'memory of the host'],
  cells({ name, samples }, all) {
    const of = (key: keyof WebscriptsSample): number => median(samples.map((sample) => sample[key]))
    const bare = all.find((line) => line.name === 'bare')?.samples.map(({ perSecond }) => perSecond) ?? []
    const isShare = (name === 'node' || name === 'python') && bare.length > 0
    return [
      name === 'cold' ? '' : rate(of('perSecond')),
      isShare ? percent(of('perSecond'), median(bare)) : '',
      `${digits(of('p50'))} / ${digits(of('p99'))}`,
      Number.isNaN(of('hostCpu')) ? '' : `${digits(of('hostCpu'))}, ${digits(of('scriptCpu'))}`,
      name === 'cold' ? '' : megabytes(of('memory')),
    ]
  },
})
