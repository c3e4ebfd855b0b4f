/** JSON Logic by its two packages. They judge conditions; tables, edges, cool-downs and actions are by hand. */
import jsonLogic, { type RulesLogic } from 'json-logic-js'
import type { Subject } from '../subject.ts'
import type { ChainStep, Limits } from '../workload.ts'
import { conditionsOnly, peerPackage, stepsOnly } from './by-hand.ts'

interface CompilingEngine {
  build(logic: RulesLogic): (data: unknown) => unknown
}

/** json-logic-engine, each condition compiled. */
export const jsonLogicEngine: Subject = async (workload, clock) => {
  const { LogicEngine } = await peerPackage<{ LogicEngine: new () => CompilingEngine }>('json-logic-engine')
  const engine = new LogicEngine()
  if (workload.kind === 'chain') {
    return stepsOnly(
      workload,
      workload.steps.map((step) => engine.build(stepLogic(step))),
    )
  }
  return conditionsOnly(workload, clock, (limits) => engine.build(conditionLogic(limits)))
}

/** json-logic-js, which walks through the logic each time. */
export const jsonLogicJs: Subject = (workload, clock) => {
  const evaluate = jsonLogic.apply.bind(jsonLogic)
  if (workload.kind === 'chain') {
    return stepsOnly(
      workload,
      workload.steps.map((step) => {
        const logic = stepLogic(step)
        return (value: number): unknown => evaluate(logic, value)
      }),
    )
  }
  return conditionsOnly(workload, clock, (limits) => {
    const logic = conditionLogic(limits)
    return (event): unknown => evaluate(logic, event)
  })
}

function conditionLogic({ temperature, humidity }: Limits): RulesLogic {
  return { and: [{ '>': [{ var: 'temperature' }, temperature] }, { '>': [{ var: 'humidity' }, humidity] }] }
}

function stepLogic({ factor, offset }: ChainStep): RulesLogic {
  return { '+': [{ '*': [{ var: '' }, factor] }, offset] }
}
