/** Builds a rule in which only one node runs and all other nodes keep their outputs. */
import type { RuleGraph } from '#core/spi'
import { definePlug, type Sensor } from '#core'
import { AppError } from '#kernel'

/** Starts a single node: a sensor that is always in the state `GO`. */
export const GO = definePlug({
  name: 'GoOnce',
  version: '1.0.0',
  kind: 'sensor',
  states: ['GO'],
  execute: () => 'GO',
})

export interface DebugRule {
  readonly graph: RuleGraph
  /** labels of the sensors that were added to start the node */
  readonly starters: ReadonlySet<string>
}

/** `resources`: those of the messages; if empty, the node runs on the tick. */
export function debugRule(graph: RuleGraph, label: string, resources: readonly string[]): DebugRule {
  const { sensors = [], actuators = [], relations = [], triggers = [] } = graph
  const sensor = sensors.find((one) => one.label === label)
  const node = sensor ?? actuators.find((one) => one.label === label)
  if (node === undefined) throw notRunnable(label, relations)
  const isTriggered = sensor === undefined || triggers.some(({ destinationLabel }) => destinationLabel === label)
  const fixed = isTriggered ? undefined : sensor.resource
  const bound = resources.length === 0 ? [undefined] : fixed === undefined ? resources : [fixed]
  const starters = startersOf(bound, new Set([...sensors, ...actuators, ...relations].map((one) => one.label)))
  return {
    graph: {
      sensors: [...starters, ...sensors.map(withoutClock)],
      actuators,
      relations,
      triggers: starters.map((starter) => ({
        sourceLabel: starter.label,
        destinationLabel: label,
        statesTrigger: [...GO.states],
      })),
    },
    starters: new Set(starters.map((starter) => starter.label)),
  }
}

function startersOf(bound: readonly (string | undefined)[], taken: ReadonlySet<string>): readonly Sensor[] {
  let number = 0
  return bound.map((resource) => {
    let label: string
    do label = `go_${++number}`
    while (taken.has(label))
    const { name, version } = GO
    return { label, name, version, ...(resource !== undefined && { resource, tickTrigger: false }) }
  })
}

function withoutClock({ pollingPeriod: _period, schedule: _schedule, ...sensor }: Sensor): Sensor {
  return { ...sensor, dataTrigger: false, tickTrigger: false }
}

function notRunnable(label: string, relations: NonNullable<RuleGraph['relations']>): AppError {
  const isRelation = relations.some((one) => one.label === label)
  const why = isRelation ? 'is a relation, which does not run' : 'is not in the rule'
  return new AppError('NOT_FOUND', `Node ${label} ${why}; use a sensor or an actuator as nodeToDebug`)
}
