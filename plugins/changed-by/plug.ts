/** A sensor that detects when a value has changed by a minimum since the last detection. */
import { AppError, compileNumber, definePlug, hasNewData, withoutNewData, problemsOfCode, slackOf } from '#plug'

export const changedBy = definePlug({
  name: 'changedBy',
  version: '1.0.1',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'Changed when a value differs by at least `by` from the last one that was Changed, otherwise Unchanged. The first value is the first reference. Each value of a message is compared once: a run without a new one shows Unchanged.',
  category: 'Logic',
  parameters: [],
  states: ['Changed', 'Unchanged'],
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'number to watch: name of a value of the message, or an expression',
      example: 'temperature',
    },
    by: { type: 'double', mandatory: true, description: 'smallest change that counts, above 0', example: 0.5 },
    unit: {
      type: 'string',
      defaultValue: 'absolute',
      format: { type: 'enum', values: ['absolute', 'percent'] },
      description: 'whether by is a difference or percent of the earlier value',
      example: 'percent',
    },
  },
  output: {
    value: { type: 'double', description: 'the current number' },
    reference: { type: 'double', description: 'earlier value of the comparison' },
    change: { type: 'double', description: 'value minus reference' },
  },
  check: ({ value, by }) => [
    ...problemsOfCode('value', value, compileNumber),
    ...problemsOfCode('by', by, (least) => requireAbove(least, 'VALIDATION')),
  ],
  prepare: ({ value }) => compileNumber(value),
  execute(context) {
    const { by, unit } = context.properties
    requireAbove(by, 'PLUG_FAILED')
    if (!hasNewData(context, context.prepared)) {
      if (typeof context.internalState !== 'number') throw withoutNewData(context.prepared)
      return 'Unchanged'
    }
    const { number: value, slack: readSlack } = context.prepared.read(context)
    const reference = typeof context.internalState === 'number' ? context.internalState : value
    const change = value - reference
    const least = unit === 'percent' ? (Math.abs(reference) * by) / 100 : by
    const slack = readSlack + slackOf(Math.max(Math.abs(value), Math.abs(reference)))
    const changed = change !== 0 && least - Math.abs(change) <= slack
    return {
      state: changed ? 'Changed' : 'Unchanged',
      rawData: { value, reference, change },
      internalState: changed ? value : reference,
    }
  },
})

function requireAbove(by: number, code: 'VALIDATION' | 'PLUG_FAILED'): void {
  if (!(by > 0))
    throw new AppError(code, `by must be above 0, but is ${by}; use the smallest change that counts, such as 0.5`)
}
