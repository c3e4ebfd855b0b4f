/**
 * The plug to copy. Make a folder next to this one, change everything below, and add the plug to plugins/index.ts.
 * A plug imports from src/plug.ts and from its own folder only.
 */
import { definePlug } from '../../src/plug.ts'

/** Greets somebody by name: `Greeted`, or `Nobody` when the name is blank. */
export const helloWorld = definePlug({
  name: 'helloWorld',
  // Rules may ask for an exact version, so raise it with every change that a rule could notice.
  version: '1.0.0',
  kind: 'sensor',
  description: 'Greets somebody by name. A small plug to copy.',
  category: 'Examples',

  // Names of values of the message that `execute` asks for by itself with `streamValue`: none here. What a rule's
  // placeholders read is known without it. With them the sensor runs on messages that have one of its values, and
  // without this line on every message.
  parameters: [],

  // All states that it can ever give. Rules are checked against this list before they run.
  states: ['Greeted', 'Nobody'],

  // What a rule may set under `properties`. Their types show in `context.properties`.
  input: {
    who: {
      type: 'string',
      defaultValue: 'world',
      description: 'whom to greet',
      example: 'boiler-1',
    },
    repeat: {
      type: 'integer',
      defaultValue: 1,
      description: 'how many times, from 1 to 10',
      example: 2,
    },
  },

  // The fields of the raw data, so that `${nodes.<label>.rawData.greeting}` can be checked before it runs.
  output: {
    greeting: { type: 'string', description: 'the greeting; empty when there was nobody to greet' },
  },

  // Optional. Finds problems in the values that are written out in a rule; those with placeholders are absent here.
  check({ repeat }) {
    if (repeat === undefined || (repeat >= 1 && repeat <= 10)) return []
    return [{ property: 'repeat', message: `repeat is ${repeat}`, suggestion: 'a whole number from 1 to 10' }]
  },

  // Runs once per observation. Time and randomness come from the context (`context.now`, `context.random()`), so that
  // a run over history repeats exactly. Throw an AppError('PLUG_FAILED', text) when there is nothing to say.
  execute({ properties }) {
    const who = properties.who.trim()
    if (who === '') return { state: 'Nobody', rawData: { greeting: '' } }
    const times = Math.min(Math.max(properties.repeat, 1), 10)
    return { state: 'Greeted', rawData: { greeting: `${'Hello, '.repeat(times)}${who}!` } }
  },
})
