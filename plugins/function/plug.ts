/** A sensor that compares a formula over data and its history with a threshold. */
import { AppError, definePlug, keptPlain, latenessOf, type NumberReading, problemsOfCode, type Sandbox } from '#plug'
import { compileFormula, type Memory } from './formula.ts'

export function createFunction(sandbox: Sandbox) {
  const compile = (text: string) => compileFormula(text, sandbox)
  const readsIn = (formula: string) => {
    try {
      return compile(formula)
    } catch {
      return undefined // the check reports the problem
    }
  }
  return definePlug({
    name: 'Function',
    version: '2.0.0',
    // version 1.0.0 included every run in its history; other version numbers belong to other platforms
    compatible: '>=1.0.0 <2',
    kind: 'sensor',
    description:
      'Computes a formula over raw data of nodes, their history and the time between runs, and compares it with a threshold. While a formula still needs earlier runs, its state is unknown. Each value of a message enters the history once, at the timestamp of its message, capped at the current time; a run without a new one adds nothing.',
    category: 'Logic',
    parameters: ({ formula }) => (formula === undefined ? undefined : readsIn(formula)?.names),
    nodes: ({ formula }) => (formula === undefined ? undefined : readsIn(formula)?.nodes) ?? [],
    states: ['Above', 'Equal', 'Below'],
    input: {
      formula: {
        type: 'string',
        mandatory: true,
        format: { type: 'code' },
        description:
          'arithmetic over <node.field>, <GLOBAL.field>, <node.field>[-1], <avg(5, minutes, node.field)>, <count(key, node.state)>, <sequence([A,B], node.state)>, dt and distance(node1, node2); without <...> also JavaScript as in condition',
        example: '<GLOBAL.temperature> * 1.8 + 32',
      },
      lateness: {
        type: 'string',
        format: { type: 'duration' },
        description:
          'allowed lateness of a value behind the newest in a time window: 0s, 30s, or ISO 8601 such as PT30S; later values are dropped and counted in late. Default: the length of the window',
        example: '30s',
      },
      threshold: { type: 'double', mandatory: true, description: 'threshold of the comparison', example: 77 },
    },
    output: {
      formulaValue: { type: 'double', description: 'value of the formula; absent while it needs more runs' },
      late: { type: 'integer', description: 'number of values dropped so far as too late, if any' },
    },
    check: ({ formula, lateness }) => [
      ...problemsOfCode('formula', formula, compile),
      ...problemsOfCode('lateness', lateness, latenessOf),
    ],
    prepare: ({ formula, lateness }) => ({ ...compile(formula), lateness: latenessOf(lateness) }),
    execute(context) {
      const { formula, threshold } = context.properties
      const known = isMemory(context.internalState, formula) ? context.internalState : context.prepared.newMemory()
      const memory = keptPlain(known)
      const finish = (reading: NumberReading | undefined) => {
        const formulaValue = reading?.number
        const late = lateIn(memory)
        const rawData = { ...(formulaValue !== undefined && { formulaValue }), ...(late > 0 && { late }) }
        if (formulaValue === undefined) return { rawData, internalState: memory }
        if (!Number.isFinite(formulaValue))
          throw new AppError('PLUG_FAILED', `the formula returned ${formulaValue}, which is not a number`)
        const slack = reading?.slack ?? 0
        const state: 'Above' | 'Below' | 'Equal' =
          formulaValue - threshold > slack ? 'Above' : threshold - formulaValue > slack ? 'Below' : 'Equal'
        return { state, rawData, internalState: memory }
      }
      const value = context.prepared.evaluate(context, memory, context.prepared.lateness)
      return value instanceof Promise ? value.then(finish) : finish(value)
    },
  })
}

function lateIn({ operands }: Memory): number {
  return operands.reduce((sum, { timed }) => sum + (timed?.late ?? 0), 0)
}

function isMemory(state: unknown, formula: string): state is Memory {
  return typeof state === 'object' && state !== null && 'formula' in state && state.formula === formula
}
