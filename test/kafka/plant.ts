/** Rules for tests of workers: a limit, silence, a pair of resources, a counter, a repeated alarm, and an outside call. */
import type { Rule, TaskSettings } from '../../src/core/index.ts'

const raise = (label: string, type: string) => ({
  label,
  name: 'createAlarm',
  properties: { type, text: 'x', severity: 'MAJOR' },
})

/** Raises an alarm whenever the value exceeds the limit and did not before. */
export function limitRule(limit: number): Rule {
  return {
    sensors: [
      {
        label: 'level',
        name: 'streamingDataSensor',
        resource: '$',
        properties: { parameter: 'value', threshold: limit },
      },
    ],
    actuators: [raise('alarm', 'HOT')],
    triggers: [
      {
        sourceLabel: 'level',
        destinationLabel: 'alarm',
        stateChangeTrigger: { stateFrom: '*', stateTo: 'Above' },
      },
    ],
    task: { type: 'reactive', resetObservations: false },
  }
}

/** Raises an alarm after a silence of so many ms. */
export function silenceRule(ms: number): Rule {
  return {
    sensors: [
      { label: 'heartbeat', name: 'stream', resource: '$' },
      { label: 'silence', name: 'delaySensor', properties: { delay: ms } },
    ],
    actuators: [raise('alarm', 'SILENT')],
    triggers: [
      { sourceLabel: 'heartbeat', destinationLabel: 'silence' },
      { sourceLabel: 'silence', destinationLabel: 'alarm', statesTrigger: ['Triggered'] },
    ],
    task: { type: 'reactive' },
  }
}

/** Raises an alarm when both resources are above the limit. */
export function pairRule(other: string, limit: number): Rule {
  const level = (label: string, resource: string) => ({
    label,
    name: 'streamingDataSensor',
    resource,
    properties: { parameter: 'value', threshold: limit },
  })
  return {
    sensors: [level('one', '$'), level('two', other)],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['one', 'two'], combinations: [['Above', 'Above']] }],
    actuators: [raise('alarm', 'BOTH')],
    triggers: [{ sourceLabel: 'both', destinationLabel: 'alarm', begins: ['TRUE'] }],
    task: { type: 'reactive', resetObservations: false },
  }
}

/** Counts messages, and calls a URL for each. */
export function callRule(): Rule {
  return {
    sensors: [{ label: 'count', name: 'invokeCount', resource: '$' }],
    actuators: [
      {
        label: 'call',
        name: 'callURL',
        properties: { url: 'http://127.0.0.1/x', method: 'POST', body: '{{nodes.count.rawData.count}}' },
      },
    ],
    triggers: [{ sourceLabel: 'count', destinationLabel: 'call', statesTrigger: ['Incremented'], invocationPolicy: 0 }],
    task: { type: 'reactive' },
  }
}

export const on = (resource: string): TaskSettings => ({ name: resource, resource })
