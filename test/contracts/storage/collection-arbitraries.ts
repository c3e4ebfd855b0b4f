/** Random writes and questions over a few ids and values, so that they meet. */
import fc from 'fast-check'
import type { Condition, Query } from '../../../src/storage/contract.ts'
import type { Thing } from './things.ts'

/** What a writer expects, worked out when it writes: the version that is there, one before it, or a word. */
export type Guess = 'any' | 'absent' | 'current' | 'stale'

export type Step =
  | { readonly kind: 'put'; readonly id: string; readonly value: Thing; readonly guess: Guess }
  | { readonly kind: 'delete'; readonly id: string; readonly guess: Guess }
  | {
      readonly kind: 'commit'
      readonly writes: readonly { readonly id: string; readonly value: Thing | undefined; readonly guess: Guess }[]
    }
  | { readonly kind: 'find'; readonly query: Query }

const ids = fc.constantFrom('a', 'B', 'b', 'b/1', '～', '😀')
const names = fc.constantFrom('', 'a', 'A', 'ab', 'b', 'ä', 'Ä*', '%', '～', '😀', 'b\nc')
const sizes = fc.constantFrom(-1.5, 0, 1, 9, 10, 2 ** 53, 2 ** 53 + 2)
const tags = fc.constantFrom('x', 'X', '😀')
const lats = fc.constantFrom(-90, -10, 0, 10.5, 90)
const lngs = fc.constantFrom(-180, -170, 0, 13.4, 170, 180)
const guesses = fc.constantFrom<Guess>('any', 'any', 'any', 'absent', 'current', 'stale')

const things: fc.Arbitrary<Thing> = fc.record(
  {
    name: names,
    status: fc.constantFrom('on', 'off'),
    size: sizes,
    tags: fc.array(tags, { maxLength: 3 }),
    at: fc.record({ lat: lats, lng: lngs }),
  },
  { requiredKeys: [] },
)

const texts = fc.oneof(
  fc.record({ op: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'contains', 'startsWith'), value: names }),
  fc.record({ op: fc.constant('in'), values: fc.array(names, { maxLength: 3 }) }),
  fc.record({ op: fc.constant('exists'), value: fc.boolean() }),
  fc.record({
    op: fc.constant('like'),
    pattern: fc.array(fc.oneof(names, fc.constant('*')), { maxLength: 4 }).map((parts) => parts.join('')),
  }),
)
const numbers = fc.oneof(
  fc.record({ op: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte'), value: sizes }),
  fc.record({ op: fc.constant('in'), values: fc.array(sizes, { maxLength: 3 }) }),
  fc.record({ op: fc.constant('exists'), value: fc.boolean() }),
)
const several = fc.oneof(
  fc.record({ op: fc.constant('eq'), value: tags }),
  fc.record({ op: fc.constant('in'), values: fc.array(tags, { maxLength: 2 }) }),
  fc.record({ op: fc.constant('exists'), value: fc.boolean() }),
)
const places = fc.oneof(
  fc
    .record({ op: fc.constant('box'), south: lats, north: lats, west: lngs, east: lngs })
    .map((box) => ({ ...box, south: Math.min(box.south, box.north), north: Math.max(box.south, box.north) })),
  fc.record({ op: fc.constant('exists'), value: fc.boolean() }),
)

const on = (field: string, questions: fc.Arbitrary<object>) =>
  questions.map((question) => ({ field, ...question }) as Condition)
const leaves: fc.Arbitrary<Condition> = fc.oneof(
  on('name', texts),
  on('status', texts),
  on('id', texts),
  on('size', numbers),
  on('tags', several),
  on('at', places),
)
const lists = (conditions: fc.Arbitrary<Condition>) => fc.array(conditions, { maxLength: 3 })
const either = (conditions: fc.Arbitrary<Condition>): fc.Arbitrary<Condition> =>
  fc.record({ any: fc.array(lists(conditions), { maxLength: 3 }) })
const conditions = fc.oneof(
  { weight: 4, arbitrary: leaves },
  { weight: 1, arbitrary: either(leaves) },
  { weight: 1, arbitrary: either(fc.oneof(leaves, either(leaves))) },
)

const pages = { where: lists(conditions), offset: fc.nat(4), limit: fc.nat(6) }
const sorts = fc.array(
  fc.record(
    { field: fc.constantFrom('name', 'status', 'size', 'id'), descending: fc.boolean() },
    { requiredKeys: ['field'] },
  ),
  { maxLength: 2 },
)
const queries: fc.Arbitrary<Query> = fc.oneof(
  fc.record({ ...pages, sort: sorts }, { requiredKeys: [] }),
  fc.record({ ...pages, afterId: ids }, { requiredKeys: [] }),
)

const writes = fc.record({ id: ids, value: fc.option(things, { nil: undefined, freq: 4 }), guess: guesses })
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put'), id: ids, value: things, guess: guesses }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), id: ids, guess: guesses }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('commit'),
      writes: fc.uniqueArray(writes, { maxLength: 4, selector: (write) => write.id }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('find'), query: queries }) },
)

export const histories: fc.Arbitrary<readonly Step[]> = fc.array(steps, { minLength: 1, maxLength: 25 })
