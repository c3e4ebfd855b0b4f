import { AppError, definePlug } from '../../src/plug.ts'
import { compileCondition, EXAMPLE, isTruthy } from './condition.ts'

/** `True` or `False` by a JSON Logic condition over the message, other nodes and variables. */
export const condition = definePlug({
  name: 'condition',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'True when a JSON Logic condition holds, else False. A value that is missing is null, which < and > take for 0.',
  category: 'Logic',
  states: ['True', 'False'],
  input: {
    condition: {
      type: 'object',
      mandatory: true,
      format: { type: 'logic' },
      description: 'JSON Logic; {"var": "temperature"} reads the message, {"var": "nodes.<label>.state"} another node',
      example: EXAMPLE,
    },
  },
  check({ condition: logic }) {
    if (logic === undefined) return []
    try {
      compileCondition(logic)
      return []
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.issues.length === 0) return [{ property: 'condition', message: error.message }]
      return error.issues.map(({ path, message, suggestion }) => ({
        property: 'condition',
        message: path === '' ? message : `${path}: ${message}`,
        ...(suggestion === undefined ? {} : { suggestion }),
      }))
    }
  },
  prepare: (properties) => compileCondition(properties.condition),
  execute(context) {
    const value = context.prepared.evaluate((path) => context.lookup(path.parts))
    return isTruthy(value) ? 'True' : 'False'
  },
})
