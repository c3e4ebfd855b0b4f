/** A sensor that throws a die with the task's random numbers. */
import { definePlug } from '#plug'

const FACES = ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX'] as const

export const dice = definePlug({
  name: 'dice',
  version: '1.0.1',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Throws a die. A run with the same seed repeats the same throws.',
  category: 'Test',
  parameters: [],
  states: FACES,
  output: { randomValue: { type: 'double', description: 'the result, a whole number from 1 to 6' } },
  execute(context) {
    const index = Math.floor(context.random() * FACES.length)
    return { state: FACES[index] ?? 'SIX', rawData: { randomValue: index + 1 } }
  },
})
