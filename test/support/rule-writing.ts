/** Provides short forms for writing rules in tests. */
import type { Actuator, Relation, RelationType, Rule, Sensor, TaskSettings, Trigger } from '../../src/core/rule/rule.ts'

type SensorText = string | (Omit<Sensor, 'label'> & { name: string })

interface Parts {
  /** sensors by label: the name of a plug, or more properties of the sensor */
  sensors?: Readonly<Record<string, SensorText>>
  /** actuators: labels, which use the plug `act`, or more properties */
  actuators?: readonly (string | Omit<Actuator, 'name'>)[]
  relations?: readonly Relation[]
  triggers?: readonly Trigger[]
  task?: TaskSettings
}

export function rule({ sensors = {}, actuators = [], relations = [], triggers = [], task = {} }: Parts): Rule {
  const acting = actuators.map((one) => ({ name: 'act', ...(typeof one === 'string' ? { label: one } : one) }))
  return {
    sensors: Object.entries(sensors).map(([label, text]) =>
      typeof text === 'string' ? { label, name: text } : { label, ...text },
    ),
    actuators: acting,
    relations,
    triggers,
    task: { type: 'reactive', ...task },
  }
}

/** Binds a sensor of the plug to resource `r`. */
export function on(name: string, more: Omit<Sensor, 'label' | 'name'> = {}): Omit<Sensor, 'label'> {
  return { name, resource: 'r', ...more }
}

/** Takes `['a', 'On']` per parent for AND, OR and NAND. */
export function gate(label: string, type: RelationType, ...parents: readonly (readonly [string, string])[]): Relation {
  return {
    label,
    type,
    parentLabels: parents.map(([parent]) => parent),
    combinations: [parents.map(([, state]) => state)],
  }
}

/** Returns limits for a COUNT or SHARE, which other relations lack. */
export function countLimits(type: RelationType, number = 2): Pick<Relation, 'atLeast' | 'atMost'> {
  if (type === 'COUNT') return number % 2 === 0 ? { atLeast: number } : { atLeast: 1, atMost: number }
  return type === 'SHARE' ? { atLeast: (number % 4) / 4 } : {}
}

export function general(
  label: string,
  parentLabels: readonly string[],
  ...combinations: readonly (readonly string[])[]
): Relation {
  return { label, type: 'GENERAL', parentLabels, combinations }
}

/** Creates a trigger with conditions; without one it fires after every execution. */
export function trigger(sourceLabel: string, destinationLabel: string, ...conditions: readonly Partial<Trigger>[]) {
  const whole: Trigger = { sourceLabel, destinationLabel }
  return Object.assign(whole, ...conditions) as Trigger
}

export const is = (...statesTrigger: readonly string[]) => ({ statesTrigger })
export const turns = (stateFrom: string, stateTo: string) => ({ stateChangeTrigger: { stateFrom, stateTo } })
export const atMostEvery = (invocationPolicy: number) => ({ invocationPolicy })
