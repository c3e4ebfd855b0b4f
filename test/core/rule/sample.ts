import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug } from '../../../src/core/plug/plug.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'

const sensor = (name: string, states: readonly string[], version = '1.0.0'): Plug =>
  definePlug({ name, version, kind: 'sensor', states, execute: () => undefined })

/** Plugs that never run: the checks only read what they declare. */
export const plugs = createRegistry([
  sensorPlug('stream', ['Below', 'Equal', 'Above'], {
    input: {
      dataName: { type: 'string', mandatory: true, example: 'temperature' },
      threshold: { type: 'double', mandatory: true },
      mode: { type: 'string', format: { type: 'enum', values: ['strict', 'loose'] }, defaultValue: 'strict' },
      options: { type: 'object' },
      when: { type: 'object', format: { type: 'logic' } },
    },
    output: { value: { type: 'double' }, unit: { type: 'string' } },
    check: ({ threshold }) =>
      threshold !== undefined && threshold < -273
        ? [{ property: 'threshold', message: 'colder than can be', suggestion: 'write at least -273' }]
        : [],
    execute: () => undefined,
  }),
  sensorPlug('delay', ['Idle', 'Triggered'], {
    compatible: '>=0.9.0 <2',
    input: { duration: { type: 'string', defaultValue: 'PT5S', format: { type: 'duration' } } },
    execute: () => undefined,
  }),
  definePlug({ name: 'ear', version: '1.0.0', kind: 'sensor', channel: 'bell', execute: () => undefined }),
  definePlug({ name: 'lull', version: '1.0.0', kind: 'sensor', tellsSilence: true, execute: () => undefined }),
  sensor('dice', ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX']),
  sensor('coin', ['Heads', 'Tails'], '1.9.0'),
  sensor('coin', ['Heads', 'Tails'], '1.10.0'),
  definePlug({ name: 'script', version: '1.0.0', kind: 'sensor', openOutput: true, execute: () => undefined }),
  definePlug({
    name: 'touchy',
    version: '1.0.0',
    kind: 'sensor',
    check: () => {
      throw new Error('out of order')
    },
    execute: () => undefined,
  }),
  actuatorPlug('log', {
    input: {
      message: { type: 'string', mandatory: true, format: { type: 'template' } },
      key: { type: 'integer', sensitive: true },
    },
    output: { sent: { type: 'boolean' } },
    execute: () => undefined,
  }),
])

/** A rule without a single problem; a fresh copy each time. */
export function goodRule() {
  return {
    sensors: [
      {
        label: 'heat',
        name: 'stream',
        version: '1.0.0',
        resource: '$',
        properties: { dataName: 'temperature', threshold: 80 } as Record<string, unknown>,
        position: [1, 2] as [number, number],
      },
      { label: 'flip', name: 'coin', sequence: 2, resource: '$' },
      { label: 'wait', name: 'delay', properties: { duration: 'PT10S' } as Record<string, unknown> },
    ],
    actuators: [{ label: 'note', name: 'log', properties: { message: 'it is ${nodes.heat.rawData.value}' } }],
    relations: [
      { label: 'both', type: 'AND', parentLabels: ['heat', 'flip'], combinations: [['Above', 'Heads']] },
      { label: 'late', type: 'GENERAL', parentLabels: ['both', 'wait'], combinations: [['TRUE', 'Triggered']] },
    ],
    triggers: [
      { sourceLabel: 'heat', destinationLabel: 'wait', stateChangeTrigger: { stateFrom: 'Below', stateTo: 'Above' } },
      { sourceLabel: 'late', destinationLabel: 'note', statesTrigger: ['TRUE'], invocationPolicy: 60 },
    ],
    notes: [{ position: [3, 4] as [number, number], text: 'watch the boiler' }],
    task: { name: 'boiler', type: 'periodic', frequency: 60_000 } as Record<string, unknown>,
  } satisfies Record<keyof Rule, unknown>
}
