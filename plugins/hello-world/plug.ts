/**
 * A plug to copy. Create a folder next to this one, change everything below, and add the plug to plugins/index.ts. A
 * plug imports only from src/plug.ts and its own folder.
 */
import { definePlug } from '#plug'

export const helloWorld = definePlug({
  name: 'helloWorld',
  // Rules may require an exact version, so raise it with every change that affects rules.
  version: '1.1.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Greets a person by name. A small plug to copy.',
  category: 'Examples',

  // Names of message values that `execute` reads directly; without this line the sensor runs on every message.
  parameters: ({ reading }) => (reading === undefined ? [] : [reading]),

  // All possible states. Rules are checked against this list before they run.
  states: ['Greeted', 'Nobody'],

  // Properties of a node. Their types appear in `context.properties`.
  input: {
    who: {
      type: 'string',
      defaultValue: 'world',
      description: 'name of the person',
      example: 'boiler-1',
    },
    repeat: {
      type: 'integer',
      defaultValue: 1,
      description: 'number of repetitions, from 1 to 10',
      example: 2,
    },
    reading: {
      type: 'string',
      description: 'name of a number of the message to add to the greeting; default: none',
      example: 'temperature',
    },
  },

  // Fields of the raw data, so that `${nodes.<label>.rawData.greeting}` can be checked before it runs.
  output: {
    greeting: { type: 'string', description: 'the greeting; empty without a name' },
  },

  // Optional. Checks the constant values of a rule; values with placeholders are absent here.
  check({ repeat }) {
    if (repeat === undefined || (repeat >= 1 && repeat <= 10)) return []
    return [
      {
        property: 'repeat',
        message: `repeat ${repeat} is out of range`,
        suggestion: 'use a whole number from 1 to 10',
      },
    ]
  },

  // Runs once per observation. Time and randomness come from the context (`context.now`, `context.random()`), so that a
  // run over history repeats exactly. Values of the message come from `context.number(name)` and `context.text(name)`:
  // missing, null and non-numeric values fail the run, and never count as 0. Throw an AppError('PLUG_FAILED', text)
  // when the state cannot be determined.
  execute(context) {
    const { properties } = context
    const who = properties.who.trim()
    if (who === '') return { state: 'Nobody', rawData: { greeting: '' } }
    const times = Math.min(Math.max(properties.repeat, 1), 10)
    const measured = properties.reading === undefined ? '' : ` It is ${context.number(properties.reading)}.`
    return { state: 'Greeted', rawData: { greeting: `${'Hello, '.repeat(times)}${who}!${measured}` } }
  },
})
