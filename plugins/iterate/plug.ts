/** A sensor that counts from one number to another, one step per run. */
import { AppError, definePlug, problemsOfCode } from '#plug'

export const iterate = definePlug({
  name: 'iterate',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Counts from one number to another, one step per run: Iterating with the next number, then Done.',
  category: 'Logic',
  parameters: [],
  states: ['Iterating', 'Done'],
  input: {
    startIndex: { type: 'integer', defaultValue: 0, description: 'the first number', example: 0 },
    stopIndex: { type: 'integer', mandatory: true, description: 'the last number', example: 9 },
    step: { type: 'integer', defaultValue: 1, description: 'step of each run, not 0', example: 1 },
  },
  output: { value: { type: 'long', description: 'number of this run; in state Done the last one' } },
  check: ({ step }) => problemsOfCode('step', step, requireStep),
  execute({ properties, internalState }) {
    const { startIndex, stopIndex, step } = properties
    requireStep(step)
    const next = typeof internalState === 'number' ? internalState + step : startIndex
    const over = step > 0 ? next > stopIndex : next < stopIndex
    if (over)
      return { state: 'Done', rawData: { value: typeof internalState === 'number' ? internalState : startIndex } }
    return { state: 'Iterating', rawData: { value: next }, internalState: next }
  },
})

function requireStep(step: number): void {
  if (step === 0) throw new AppError('PLUG_FAILED', 'step is 0, so it would never end; use 1, or -1 to count down')
}
