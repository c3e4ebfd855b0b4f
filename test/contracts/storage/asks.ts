import type { Condition } from '../../../src/storage/contract.ts'

/** A condition on a field; `value`: the values of `in`, the pattern of `like`. */
export function asks(
  field: string,
  op: Exclude<Extract<Condition, { op: string }>['op'], 'box'>,
  value: unknown,
): Condition {
  return { field, op, [op === 'in' ? 'values' : op === 'like' ? 'pattern' : 'value']: value } as Condition
}
