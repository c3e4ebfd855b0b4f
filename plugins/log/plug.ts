/** An actuator that writes a message to the log of the task. */
import { definePlug } from '#plug'

export const log = definePlug({
  name: 'log',
  version: '1.0.0',
  kind: 'actuator',
  description: 'Writes a message to the log of the task.',
  category: 'Debug',
  input: {
    message: {
      type: 'string',
      mandatory: true,
      format: { type: 'template' },
      description: 'text to write; {{<label>.<field>}} is replaced by raw data of a node',
      example: 'the temperature is {{stream_1.stream.temperature}}',
    },
    level: {
      type: 'string',
      defaultValue: 'INFO',
      format: { type: 'enum', values: ['DEBUG', 'INFO', 'WARN', 'ERROR'] },
      description: 'log level',
      example: 'WARN',
    },
  },
  execute({ properties, log: output }) {
    const { message, level } = properties
    if (level === 'DEBUG') output.debug(message)
    else if (level === 'WARN') output.warn(message)
    else if (level === 'ERROR') output.error(message)
    else output.info(message)
    return { message }
  },
})
