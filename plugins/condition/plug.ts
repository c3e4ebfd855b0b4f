/** A sensor that is True while an expression or a JSON Logic condition holds. */
import {
  compileConditionCode,
  conditionFormula,
  conditionSteps,
  definePlug,
  problemsOfCode,
  readerOf,
  type Sandbox,
} from '#plug'

export function createCondition(sandbox: Sandbox) {
  const compile = (condition: unknown) => compileConditionCode(condition, sandbox)
  return definePlug({
    name: 'condition',
    version: '1.2.0',
    compatible: '>=1.0.0 <2',
    kind: 'sensor',
    description:
      'True when an expression or a JSON Logic condition holds, otherwise False. Comparing or calculating with a missing value is an error.',
    category: 'Logic',
    parameters: [],
    states: ['True', 'False'],
    input: {
      condition: {
        type: 'any',
        mandatory: true,
        format: { type: 'code' },
        description:
          'an expression over the values of the message, nodes.<label>.state and variables.<name>, JSON Logic over the same such as {">": [{"var": "temperature"}, 25]}, or statements that end in the value or return it. x in list finds an item; functions are between(x, low, high), contains(textOrList, part), now, hour(now), weekday(now, "Europe/Brussels") and the like. Reading and comparing takes about a microsecond; statements, functions and regular expressions run in the sandbox, which takes some milliseconds',
        example: 'temperature > 25',
      },
    },
    steps: ({ condition }) => conditionSteps(condition),
    calculates({ condition }) {
      const formula = conditionFormula(condition)
      return formula === undefined ? undefined : { states: { True: formula }, otherwise: 'False' }
    },
    check: ({ condition }) => problemsOfCode('condition', condition, compile),
    prepare: ({ condition }) => compile(condition),
    execute(context) {
      const holds = context.prepared.evaluate(readerOf(context), context.now, context)
      return typeof holds === 'boolean' ? stateOf(holds) : holds.then(stateOf)
    },
  })
}

function stateOf(holds: boolean): 'True' | 'False' {
  return holds ? 'True' : 'False'
}
