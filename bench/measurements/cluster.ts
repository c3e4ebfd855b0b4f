/** Clusters of hosts on PostgreSQL: the duration of takeovers. */
import { measurement, middle, most, overall } from '../measurement.ts'

export const takeover = measurement('takeover', {
  name: 'takeover',
  title: 'Takeover: 3 hosts and a PostgreSQL on one machine, 30 tenants of 100 tasks; one host is gone',
  lines: [
    { name: 'killed', title: 'killed (kill -9)', request: { subject: 'killed' } },
    { name: 'halted', title: 'standing still (SIGSTOP)', request: { subject: 'halted' } },
  ],
  maxRounds: 3,
  cost: ({ all }) => all,
  costUnit: 'ms',
  what: 'a host is',
  columns: [
    ['tasks it had', middle(({ tasks }) => tasks)],
    ['ms until tasks of half of its tenants take messages', middle(({ half }) => half)],
    ['of all', middle(({ all }) => all)],
    ['worst', overall(most, ({ all }) => all)],
  ],
})
