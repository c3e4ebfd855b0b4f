import { compileLogic } from '../../../../src/core/language/logic/json-logic.ts'
import { ofData } from '../../../../src/kernel/values.ts'
import { descend } from '../../../../src/core/language/placeholders/read-path.ts'

const over = (data: unknown) => (path: { root: string; segments: readonly string[] }) =>
  path.root === 'streamdata' ? ofData(descend(data, path.segments, 0)) : undefined

/** The value of logic over a message. */
export const run = (logic: unknown, data: unknown = {}) => compileLogic(logic).evaluate(over(data))

/** A message with a value of every kind. */
export const sample = {
  t: 21.5,
  name: 'pump',
  zero: 0,
  no: null,
  yes: true,
  list: [1, 2, 3],
  words: ['a', 'b'],
  empty: [],
  items: [
    { name: 'x', v: 1, length: 7 },
    { name: 'y', v: 5 },
  ],
  deep: { a: { b: [10, 20] } },
}
