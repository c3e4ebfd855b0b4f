/**
 * Random histories of messages: late, repeated, expiring, removed and pruned ones, several changes in one turn; the medium and
 * the model must agree.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import type { Series, StoredMessage, TimeRange } from '../../../src/storage/series.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { START, type Suite, type SuiteClock } from './medium.ts'

const RESOURCES = ['a', 'b', '😀'] as const
const STREAMS = ['events', 'commands'] as const
const resources = fc.constantFrom(...RESOURCES)
const streams = fc.constantFrom(...STREAMS)
const times = fc.integer({ min: -3, max: 8 })
const bodies = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom<StoredMessage['body']>({}, { n: 1 }, { n: 2 }, { text: '\u0000\ud800"～' }),
  },
  { weight: 1, arbitrary: fc.constant({ text: 'x'.repeat(20_000) }) },
)
/** `expires`: ms after it was appended */
const messages: fc.Arbitrary<StoredMessage> = fc.record(
  { resource: resources, stream: streams, time: times, body: bodies, expires: fc.integer({ min: 1, max: 60 }) },
  { requiredKeys: ['resource', 'stream', 'time', 'body'] },
)
const ranges: fc.Arbitrary<TimeRange> = fc.record({ from: times, until: times }, { requiredKeys: [] })

type Stream = Pick<StoredMessage, 'resource' | 'stream'>
type Query = Parameters<Series['messages']>[0]
type Change =
  | { readonly kind: 'append'; readonly messages: readonly StoredMessage[] }
  | { readonly kind: 'remove'; readonly what: { readonly resource: string; readonly stream?: string } & TimeRange }
  | { readonly kind: 'prune'; readonly what: Stream & TimeRange & { readonly keep: number } }
type Step =
  | { readonly kind: 'turn'; readonly changes: readonly Change[] }
  | { readonly kind: 'expire'; readonly ms: number }
  | { readonly kind: 'ask'; readonly query: Query }

const changes: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append'), messages: fc.array(messages, { maxLength: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('remove'),
      what: fc
        .tuple(fc.record({ resource: resources, stream: streams }, { requiredKeys: ['resource'] }), ranges)
        .map(([some, range]) => ({ ...some, ...range })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('prune'),
      what: fc
        .tuple(fc.record({ resource: resources, stream: streams, keep: fc.nat(6) }), ranges)
        .map(([some, range]) => ({ ...some, ...range })),
    }),
  },
)

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('turn'),
      changes: fc.array(changes, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire'), ms: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask'),
      query: fc
        .tuple(
          fc.record(
            { resource: resources, stream: streams, limit: fc.integer({ min: 1, max: 6 }), descending: fc.boolean() },
            { requiredKeys: ['resource', 'stream'] },
          ),
          ranges,
        )
        .map(([some, range]) => ({ ...some, ...range })),
    }),
  },
)

export function definesMessageHistories(suite: Suite<Storage>): void {
  suite.fact('any history of messages reads as the model says', async ({ storage, tenant, clock }) => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 16 }), async (history) => {
        count += 1
        clock.now = START
        const { series } = storage.tenant(`${tenant}.${count}`)
        const model = new MessageModel()
        for (const step of history) await take(step, series, model, clock)
        for (const resource of RESOURCES) {
          for (const stream of STREAMS) {
            expect(await series.messages({ resource, stream })).toEqual(model.ask({ resource, stream }))
          }
        }
      }),
      runs(100),
    )
  })
}

async function take(step: Step, series: Series, model: MessageModel, clock: SuiteClock): Promise<void> {
  switch (step.kind) {
    case 'turn':
      await Promise.all(step.changes.map((one) => change(one, series, model, clock.now)))
      return
    case 'expire':
      clock.now += step.ms
      expect(await series.expire(clock.now)).toBe(model.expire(clock.now))
      return
    case 'ask':
      expect(await series.messages(step.query)).toEqual(model.ask(step.query))
      return
  }
}

async function change(one: Change, series: Series, model: MessageModel, now: number): Promise<void> {
  if (one.kind === 'append') {
    const given = one.messages.map((message) => {
      return { ...message, ...(message.expires && { expires: now + message.expires }) }
    })
    model.append(given)
    return series.append({ messages: given })
  }
  model.remove(one.what)
  return series.remove({ ...one.what, only: 'messages' })
}

/** As simply as it can be said: a list in the order of arrival. */
class MessageModel {
  #messages: StoredMessage[] = []

  append(messages: readonly StoredMessage[]): void {
    for (const message of messages)
      if (!this.#messages.some((one) => isSame(one, message))) this.#messages.push(message)
  }

  remove({
    keep = 0,
    from = -Infinity,
    until = Infinity,
    ...of
  }: Partial<Stream> & TimeRange & { keep?: number }): void {
    const meant = this.#messages.filter((one) => isOf(one, of)).sort((a, b) => a.time - b.time)
    const gone = new Set(
      meant.slice(0, Math.max(0, meant.length - keep)).filter(({ time }) => time >= from && time <= until),
    )
    this.#messages = this.#messages.filter((one) => !gone.has(one))
  }

  expire(now: number): number {
    const before = this.#messages.length
    this.#messages = this.#messages.filter(({ expires = Infinity }) => expires > now)
    return before - this.#messages.length
  }

  ask({ limit = 100, descending = true, from = -Infinity, until = Infinity, ...of }: Query): readonly StoredMessage[] {
    const found = this.#messages
      .filter((one) => isOf(one, of) && one.time >= from && one.time <= until)
      .sort((a, b) => a.time - b.time)
    if (descending) found.reverse()
    return found.slice(0, limit)
  }
}

function isOf(message: StoredMessage, { resource, stream }: Partial<Stream>): boolean {
  return (
    (resource === undefined || message.resource === resource) && (stream === undefined || message.stream === stream)
  )
}

function isSame(one: StoredMessage, other: StoredMessage): boolean {
  return isOf(one, other) && one.time === other.time && JSON.stringify(one.body) === JSON.stringify(other.body)
}
