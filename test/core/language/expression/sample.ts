import { compileExpression } from '../../../../src/core/language/expression/expression.ts'
import { ownValue } from '../../../../src/kernel/json.ts'

export const message = {
  temperature: 26,
  state: 'on',
  list: [3, 1, 2],
  words: ['b', 'a'],
  deep: { a: { b: [10, 20] } },
  text: 'Hello, World',
  no: false,
  nothing: null,
  toString: 'own',
  $$typeof: 1,
}

const roots = {
  streamdata: message,
  nodes: { dice: { state: 'ONE', rawData: { v: 5, items: [{ n: 1 }, { n: 2 }] } }, 'my node': { state: 'Above' } },
  variables: { limit: 3 },
  task: { TASK_ID: 't1' },
  loop: { id: 7 },
}

/** The value of an expression over the sample. */
export function evaluate(text: string, values: Record<string, unknown> = {}): unknown {
  const all = { ...roots, streamdata: { ...message, ...values } }
  return compileExpression(text).evaluate(
    ({ parts }) => parts.reduce<unknown>((value, key) => ownValue(value, key), all),
    1_767_225_600_000,
  )
}
