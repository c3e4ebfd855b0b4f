/** Workloads as rules of this engine. */
import type { Rule, Sensor } from '../../src/core/rule/rule.ts'
import type { ChainWorkload, Limits, ThresholdWorkload } from '../workload.ts'

/** Two sensors, AND, and the actuators of the workload. */
export function thresholdRule(limits: Limits, { answers, acts, fires, coolDownMs }: ThresholdWorkload): Rule {
  const name = answers === 'next turn' ? 'nextTurnSensor' : 'streamingDataSensor'
  const sensor = (label: string, parameter: 'temperature' | 'humidity'): Sensor => {
    return { label, name, resource: '$', properties: { parameter, threshold: limits[parameter] } }
  }
  const properties = { value: '${streamdata.temperature}' }
  const actuators =
    acts === 'in order'
      ? ['note', 'tell'].map((plug) => ({ label: plug, name: plug, properties }))
      : [{ label: 'count', name: 'count' }]
  return {
    sensors: [sensor('warm', 'temperature'), sensor('damp', 'humidity')],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
    actuators,
    triggers: actuators.map(({ label }) => ({
      sourceLabel: 'both',
      destinationLabel: label,
      invocationPolicy: coolDownMs / 1000,
      // from FALSE, so that a gate that is unknown before its second sensor has run creates no edge
      ...(fires === 'every'
        ? { statesTrigger: ['TRUE'] }
        : { stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' } }),
    })),
  }
}

/** Sensors `step1`, `step2` ... in sequence by execution triggers, actuator `count` at the end. */
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
