/** How long the tasks of a host of a cluster are nowhere after it is gone. */
import { digits, median } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { TakeoverSubject } from '../samples/takeover.ts'

const SUBJECTS: readonly { readonly subject: TakeoverSubject; readonly title: string }[] = [
  { subject: 'killed', title: 'killed (kill -9)' },
  { subject: 'halted', title: 'standing still (SIGSTOP)' },
]

export const takeover = measurement<'takeover'>({
  name: 'takeover',
  title: 'Takeover: 3 hosts and a PostgreSQL on one machine, 30 tenants of 100 tasks; one host is gone',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'takeover', subject },
      maxRounds: 3,
    })),
  cost: ({ all }) => all,
  costUnit: 'ms',
  head: ['a host is', 'tasks it had', 'ms until tasks of half of its tenants take messages', 'of all', 'worst'],
  cells({ samples }) {
    const all = samples.map((sample) => sample.all)
    return [
      digits(median(samples.map(({ tasks }) => tasks))),
      digits(median(samples.map(({ half }) => half))),
      digits(median(all)),
      digits(Math.max(...all)),
    ]
  },
})
