/** A sensor that compares a number with two limits. */
import { AppError, definePlug } from '#plug'

export const inRange = definePlug({
  name: 'inRange',
  version: '1.0.2',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Compares a number with two limits. Both limits belong to the range.',
  category: 'Logic',
  parameters: [],
  states: ['Above', 'In Range', 'Below'],
  input: {
    value: { type: 'double', mandatory: true, description: 'number to compare', example: 21.5 },
    lowerLimit: { type: 'double', mandatory: true, description: 'the lowest number in the range', example: 18 },
    upperLimit: { type: 'double', mandatory: true, description: 'the highest number in the range', example: 24 },
  },
  check({ lowerLimit, upperLimit }) {
    if (lowerLimit === undefined || upperLimit === undefined || upperLimit > lowerLimit) return []
    return [
      {
        property: 'upperLimit',
        message: emptyRange(lowerLimit, upperLimit),
        suggestion: 'use an upperLimit greater than lowerLimit',
      },
    ]
  },
  calculates({ lowerLimit, upperLimit }) {
    if (lowerLimit === undefined || upperLimit === undefined || !(upperLimit > lowerLimit)) return undefined
    return { states: { Above: 'value > upperLimit', 'In Range': 'value >= lowerLimit' }, otherwise: 'Below' }
  },
  execute({ properties }) {
    const { value, lowerLimit, upperLimit } = properties
    if (!(upperLimit > lowerLimit)) throw new AppError('PLUG_FAILED', emptyRange(lowerLimit, upperLimit))
    if (value > upperLimit) return 'Above'
    return value < lowerLimit ? 'Below' : 'In Range'
  },
})

function emptyRange(lowerLimit: number, upperLimit: number): string {
  return `upperLimit ${upperLimit} must be greater than lowerLimit ${lowerLimit}`
}
