/** What webscripts hold that nobody calls: ten of a thousand beside ten of ten. */
import { median, megabytes } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { WebscriptsDeployedSubject } from '../samples/webscripts-deployed.ts'

const SUBJECTS: readonly { readonly subject: WebscriptsDeployedSubject; readonly title: string }[] = [
  { subject: 'ten', title: 'ten are deployed' },
  { subject: 'thousand', title: 'a thousand are deployed' },
]

export const webscriptsDeployed = measurement<'webscripts-deployed'>({
  name: 'webscripts-deployed',
  title: 'Memory of a host of which ten webscripts are called',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'webscripts-deployed', subject },
      maxRounds: 3,
    })),
  cost: ({ heap }) => heap / 1e6,
  costUnit: 'MB of heap',
  head: ['webscripts', 'heap before', 'heap after', 'processes', 'memory of all of them'],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    return [megabytes(of('heapBefore')), megabytes(of('heap')), String(of('processes')), megabytes(of('processMemory'))]
  },
})
