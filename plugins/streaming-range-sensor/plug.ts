/** A sensor that shows whether one number of the message is close enough to a target. */
import { AppError, definePlug, slackOf } from '#plug'

export const streamingRangeSensor = definePlug({
  name: 'streamingRangeSensor',
  version: '1.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'Shows whether a parameter of the message is within a distance of a target (inclusive). Rounding errors of the arithmetic are tolerated.',
  category: 'Stream',
  parameters: ({ parameter }) => (parameter === undefined ? undefined : [parameter]),
  states: ['In Range', 'Below', 'Above'],
  input: {
    parameter: {
      type: 'string',
      mandatory: true,
      description: 'parameter of the message to compare',
      example: 'temperature',
    },
    target: { type: 'double', mandatory: true, description: 'target value', example: 21 },
    range: {
      type: 'double',
      mandatory: true,
      description: 'maximal distance from the target, 0 or more',
      example: 1.5,
    },
  },
  output: {
    parameter: { type: 'string', description: 'the compared parameter' },
    data: { type: 'double', description: 'the value of the parameter as a number' },
    target: { type: 'double', description: 'target value' },
    range: { type: 'double', description: 'maximal distance from the target' },
    deviation: { type: 'double', description: 'data minus target' },
  },
  check({ range }) {
    if (range === undefined || range >= 0) return []
    return [{ property: 'range', message: negativeRange(range), suggestion: 'use a distance such as 1.5' }]
  },
  calculates({ parameter, range }) {
    if (parameter === undefined || range === undefined || range < 0) return undefined
    return {
      rawData: { data: { from: 'streamdata', name: parameter }, deviation: 'rawData.data - target' },
      states: {
        Above: `rawData.deviation - range > ${SLACK}`,
        Below: `-rawData.deviation - range > ${SLACK}`,
      },
      otherwise: 'In Range',
    }
  },
  execute(context) {
    const { parameter, target, range } = context.properties
    if (range < 0) throw new AppError('PLUG_FAILED', negativeRange(range))
    const data = context.number(parameter)
    const deviation = data - target
    const slack = slackOf(Math.max(Math.abs(data), Math.abs(target)))
    const state = deviation - range > slack ? 'Above' : -deviation - range > slack ? 'Below' : 'In Range'
    return { state, rawData: { parameter, data, target, range, deviation } }
  },
})

const SLACK = '1e-12 * Math.max(Math.abs(rawData.data), Math.abs(target))'

function negativeRange(range: number): string {
  return `range must be 0 or more, but is ${range}`
}
