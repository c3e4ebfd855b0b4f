/** The sensor of W5, as a plug. */
import { definePlug } from '../../src/plug.ts'
import { comparedNextTurn } from './next-turn.ts'

export const nextTurnSensor = definePlug({
  name: 'nextTurnSensor',
  version: '1.0.0',
  kind: 'sensor',
  states: ['NotAbove', 'Above'],
  input: {
    parameter: { type: 'string', mandatory: true },
    threshold: { type: 'double', mandatory: true },
  },
  execute(context) {
    const { parameter, threshold } = context.properties
    return comparedNextTurn(Number(context.streamValue(parameter)), threshold)
  },
})
