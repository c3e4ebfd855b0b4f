/** Answers on the next turn of the loop: those of the sensors of W5, which compare at once, and of an actuator of W7. */
export type Comparison = 'Above' | 'NotAbove'

interface Waiting {
  readonly resolve: (answer: Comparison | undefined) => void
  readonly answer: Comparison | undefined
}

let waiting: Waiting[] = []

/** All that were asked within a turn are answered together, so that the plug itself costs little. */
function answerAll(): void {
  const all = waiting
  waiting = []
  for (const { resolve, answer } of all) resolve(answer)
}

export function answeredNextTurn<Answer extends Comparison | undefined>(answer: Answer): Promise<Answer> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(answerAll)
    waiting.push({ resolve: resolve as Waiting['resolve'], answer })
  })
}

export function comparedNextTurn(value: number, limit: number): Promise<Comparison> {
  return answeredNextTurn(value > limit ? 'Above' : 'NotAbove')
}
