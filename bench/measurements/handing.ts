/** What it costs to ask a host of a cluster that has not the tenant, beside asking the one that has it. */
import { digits, median, percent } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { HandingSample, HandingSubject } from '../samples/handing.ts'

const SUBJECTS: readonly { readonly subject: HandingSubject; readonly title: string }[] = [
  { subject: 'post', title: 'POST of a message of a few bytes, stored' },
  { subject: 'get', title: 'GET /' },
]

/** More than asking the owner costs. */
const more = ({ asked, owner, other }: HandingSample): number => owner + other - asked

export const handing = measurement<'handing'>({
  name: 'handing',
  title: 'Handing on: small requests at a host that has not the tenant, 32 connections, us of CPU of all threads each',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'handing', subject },
      maxRounds: 5,
    })),
  cost: more,
  costUnit: 'us CPU',
  head: ['request', 'owner, asked itself', 'owner, handed on to', 'host that hands on', 'more in all', 'share'],
  cells({ samples }) {
    const of = (key: keyof HandingSample): number => median(samples.map((sample) => sample[key]))
    return [
      digits(of('asked')),
      digits(of('owner')),
      digits(of('other')),
      digits(median(samples.map(more))),
      percent(median(samples.map((sample) => more(sample) / sample.asked)), 1),
    ]
  },
})
