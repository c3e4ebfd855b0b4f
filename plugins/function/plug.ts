import { AppError, definePlug, type Plug, problemsOfCode, type ScriptFence } from '../../src/plug.ts'
import { compileFormula, type Memory } from './formula.ts'

/** A number by a formula over raw data and its history, compared with a threshold. */
export function createFunction(fence: ScriptFence): Plug {
  const compile = (text: string) => compileFormula(text, fence)
  return definePlug({
    name: 'Function',
    version: '1.0.0',
    compatible: '>=1.0.0 <2',
    kind: 'sensor',
    description:
      'Computes a formula over raw data of nodes, their history and the time between runs, and compares it with a threshold. While a formula needs earlier runs that are not there yet, it gives no state.',
    category: 'Logic',
    states: ['Above', 'Equal', 'Below'],
    input: {
      formula: {
        type: 'string',
        mandatory: true,
        format: { type: 'code' },
        description:
          'arithmetic over <node.field>, <GLOBAL.field>, <node.field>[-1], <avg(5, minutes, node.field)>, <count(key, node.state)>, <sequence([A,B], node.state)>, dt and distance(node1, node2); without <...> also JavaScript as in condition, in its two lanes',
        example: '<GLOBAL.temperature> * 1.8 + 32',
      },
      threshold: { type: 'double', mandatory: true, description: 'what the value is compared with', example: 77 },
    },
    output: {
      formulaValue: { type: 'double', description: 'the value of the formula; absent while it needs more runs' },
    },
    check: ({ formula }) => problemsOfCode('formula', formula, compile),
    prepare: ({ formula }) => compile(formula),
    execute(context) {
      const { formula, threshold } = context.properties
      const memory = isMemory(context.internalState, formula) ? context.internalState : context.prepared.newMemory()
      const finish = (formulaValue: number | undefined) => {
        if (formulaValue === undefined) return { rawData: {}, internalState: memory }
        if (!Number.isFinite(formulaValue))
          throw new AppError('PLUG_FAILED', `the formula gives ${formulaValue}, which is no number`)
        const state: 'Above' | 'Below' | 'Equal' =
          formulaValue > threshold ? 'Above' : formulaValue < threshold ? 'Below' : 'Equal'
        return { state, rawData: { formulaValue }, internalState: memory }
      }
      const value = context.prepared.evaluate(context, memory)
      return value instanceof Promise ? value.then(finish) : finish(value)
    },
  })
}

function isMemory(state: unknown, formula: string): state is Memory {
  return typeof state === 'object' && state !== null && 'formula' in state && state.formula === formula
}
