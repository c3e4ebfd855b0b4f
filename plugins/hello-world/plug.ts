/**
 * The plug to copy. Make a folder next to this one, change everything below, and add the plug to plugins/index.ts.
 * A plug imports from src/plug.ts and from its own folder only.
 */
import { definePlug } from '#plug'

/** Greets somebody by name: `Greeted`, or `Nobody` when the name is blank. */
export const helloWorld = definePlug({
  name: 'helloWorld',
  // Rules may ask for an exact version, so raise it with every change that a rule could notice.
  version: '1.1.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Greets somebody by name. A small plug to copy.',
  category: 'Examples',

  // Names of values of the message that `execute` asks for by itself. What a rule's placeholders read is known without
  // it. With them the sensor runs on messages that have one of its values, and without this line on every message.
  parameters: ({ reading }) => (reading === undefined ? [] : [reading]),

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
    reading: {
      type: 'string',
      description: 'a number of the message to add to the greeting; none when left out',
      example: 'temperature',
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
  // a run over history repeats exactly. Values of the message come from `context.number(name)` and `context.text(name)`:
  // what is missing, null or no number fails the run by itself, and is never taken for 0. Throw an AppError('PLUG_FAILED', text) when there is nothing to say.
  execute(context) {
    const { properties } = context
    const who = properties.who.trim()
    if (who === '') return { state: 'Nobody', rawData: { greeting: '' } }
    const times = Math.min(Math.max(properties.repeat, 1), 10)
    const told = properties.reading === undefined ? '' : ` It is ${context.number(properties.reading)}.`
    return { state: 'Greeted', rawData: { greeting: `${'Hello, '.repeat(times)}${who}!${told}` } }
  },
})
