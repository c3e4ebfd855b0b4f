/** Answers on the next turn of the loop, for the sensors of W5 and an actuator of W7. */
export type Comparison = 'Above' | 'NotAbove'

interface Waiting {
  readonly resolve: (answer: Comparison | undefined) => void
  readonly answer: Comparison | undefined
}

let waiting: Waiting[] = []

/** Answers all calls of a turn together, so that the plug itself is cheap. */
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
