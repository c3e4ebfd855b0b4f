/** A sensor and an actuator that show a message in the log of the task. */
import { definePlug, type PlugLog } from '#plug'

const shared = {
  name: 'debugDialog',
  version: '1.0.4',
  compatible: '>=1.0.0 <2',
  category: 'Debug',
  input: {
    message: {
      type: 'string',
      mandatory: true,
      format: { type: 'template' },
      description: 'text to show; {{<label>.<field>}} is replaced by raw data of a node',
      example: 'the temperature is {{stream_1.stream.temperature}}',
    },
  },
} as const

export const debugDialog = definePlug({
  ...shared,
  kind: 'sensor',
  description: 'Shows a message in the log of the task; always Success.',
  parameters: [],
  states: ['Success', 'Error'],
  execute: ({ properties, log }) => ({ state: 'Success', message: show(properties.message, log) }),
})

export const debugDialogActuator = definePlug({
  ...shared,
  kind: 'actuator',
  description: 'Shows a message in the log of the task.',
  execute: ({ properties, log }) => ({ message: show(properties.message, log) }),
})

function show(message: string, log: PlugLog): string {
  log.info(message)
  return message
}
