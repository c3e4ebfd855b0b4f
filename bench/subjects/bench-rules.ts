/** The workloads as rules of this engine. */
import type { Rule, Sensor } from '../../src/core/rule/rule.ts'
import type { ChainWorkload, Limits, ThresholdWorkload } from '../workload.ts'
import type { WideRule } from '../workloads/wide.ts'

/** `streaming`: a sensor that compares one stream value; `logic`: the same condition as JSON Logic; `nextTurn`: one that answers later. */
export type Conditions = 'streaming' | 'logic' | 'nextTurn'

/** Two sensors, AND, actuator `count`. */
export function thresholdRule(limits: Limits, workload: ThresholdWorkload, conditions: Conditions): Rule {
  const state = conditions === 'logic' ? 'True' : 'Above'
  return {
    sensors: [
      condition('warm', 'temperature', limits.temperature, conditions),
      condition('damp', 'humidity', limits.humidity, conditions),
    ],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [[state, state]] }],
    actuators: [{ label: 'count', name: 'count' }],
    triggers: [
      {
        sourceLabel: 'both',
        destinationLabel: 'count',
        invocationPolicy: workload.coolDownMs / 1000,
        // From FALSE, so that a gate that is unknown while its second sensor has yet to run makes no edge.
        ...(workload.fires === 'every'
          ? { statesTrigger: ['TRUE'] }
          : { stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' } }),
      },
    ],
  }
}

/** The same conditions; a firing calls `note` and then `tell`, with the temperature. */
export function actingRule(limits: Limits, workload: ThresholdWorkload, conditions: Conditions): Rule {
  const { triggers = [], ...rule } = thresholdRule(limits, workload, conditions)
  const actuators = ['note', 'tell'].map((name) => {
    return { label: name, name, properties: { value: '${streamdata.temperature}' } }
  })
  return {
    ...rule,
    actuators,
    triggers: triggers.flatMap((trigger) => actuators.map(({ label }) => ({ ...trigger, destinationLabel: label }))),
  }
}

function condition(label: string, parameter: string, threshold: number, conditions: Conditions): Sensor {
  if (conditions === 'logic') {
    const condition = { '>': [{ var: parameter }, threshold] }
    return { label, name: 'condition', resource: '$', properties: { condition } }
  }
  const name = conditions === 'streaming' ? 'streamingDataSensor' : 'nextTurnSensor'
  return { label, name, resource: '$', properties: { parameter, threshold } }
}

/** Sensors `step1`, `step2` ... one after the other by execution triggers, actuator `count` at the end. */
export function chainRule({ steps, limit }: ChainWorkload): Rule {
  const last = `step${steps.length}`
  return {
    sensors: steps.map(({ factor, offset }, i) => ({
      label: `step${i + 1}`,
      name: 'chainStep',
      resource: '$',
      properties: {
        value: i === 0 ? '${streamdata.temperature}' : `\${nodes.step${i}.rawData.value}`,
        factor,
        offset,
        limit,
      },
    })),
    actuators: [{ label: 'count', name: 'count' }],
    triggers: [
      ...steps.slice(1).map((_, i) => ({ sourceLabel: `step${i + 1}`, destinationLabel: `step${i + 2}` })),
      { sourceLabel: last, destinationLabel: 'count', statesTrigger: ['High'] },
    ],
  }
}

/** The rule of 1,000 nodes. */
export function wideAsRule({ sensors, gates, root }: WideRule): Rule {
  const sensorLabels = new Set(sensors.map(({ label }) => label))
  const holding = (label: string) => (sensorLabels.has(label) ? 'Above' : 'TRUE')
  return {
    sensors: sensors.map(({ label, parameter, limit }) => condition(label, parameter, limit, 'streaming')),
    relations: gates.map(({ label, parents }) => {
      return { label, type: 'AND' as const, parentLabels: [...parents], combinations: [parents.map(holding)] }
    }),
    actuators: [{ label: 'count', name: 'count' }],
    triggers: [{ sourceLabel: root, destinationLabel: 'count', statesTrigger: ['TRUE'] }],
  }
}
