/** A sensor that compares one number of the message with a threshold. */
import { definePlug, numberIn, numberOfText } from '#plug'

export const streamingDataSensor = definePlug({
  name: 'streamingDataSensor',
  version: '1.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Compares a parameter of the message with a threshold. True and false count as 1 and 0.',
  category: 'Stream',
  parameters: ({ parameter, threshold }) => {
    if (parameter === undefined) return undefined
    // a threshold that is known only at the call is usually a number
    const isName = typeof threshold === 'string' && numberOfText(threshold) === undefined
    return isName ? [parameter, threshold] : [parameter]
  },
  states: ['Below', 'Equal', 'Above'],
  input: {
    parameter: {
      type: 'string',
      mandatory: true,
      description: 'parameter of the message to compare',
      example: 'temperature',
    },
    threshold: {
      type: 'any',
      mandatory: true,
      description: 'number, or name of the parameter of the message with the threshold',
      example: 25,
    },
  },
  output: {
    parameter: { type: 'string', description: 'the compared parameter' },
    threshold: { type: 'double', description: 'the threshold as a number' },
    data: { type: 'double', description: 'the value of the parameter as a number' },
  },
  check({ threshold }) {
    if (threshold === undefined || isThreshold(threshold)) return []
    return [
      {
        property: 'threshold',
        message: `${JSON.stringify(threshold)} is neither a number nor the name of a parameter`,
        suggestion: 'use a number such as 25, or a name such as setpoint',
      },
    ]
  },
  steps({ parameter, threshold }) {
    const cut = numberIn(threshold)
    if (cut === undefined) return undefined
    return { parameter, cuts: [cut], states: ['Below', 'Equal', 'Above'], reads: 'number' }
  },
  execute(context) {
    const { parameter } = context.properties
    const setting = context.properties.threshold
    const data = context.number(parameter, COUNTED)
    const threshold = numberIn(setting) ?? context.number(String(setting), COUNTED)
    const state = data > threshold ? 'Above' : data < threshold ? 'Below' : 'Equal'
    return { state, rawData: { parameter, threshold, data } }
  },
})

const COUNTED = { booleans: true } as const

function isThreshold(value: unknown): boolean {
  return Number.isFinite(value) || (typeof value === 'string' && value.trim() !== '')
}
