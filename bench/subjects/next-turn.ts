/** What the sensors of W5 ask: it compares at once and answers on the next turn of the loop. */
export type Comparison = 'Above' | 'NotAbove'

interface Waiting {
  readonly resolve: (answer: Comparison) => void
  readonly answer: Comparison
}

let waiting: Waiting[] = []

/** All that were asked within a turn are answered together, so that the sensor itself costs little. */
function answerAll(): void {
  const all = waiting
  waiting = []
  for (const { resolve, answer } of all) resolve(answer)
}

export function comparedNextTurn(value: number, limit: number): Promise<Comparison> {
  const answer = value > limit ? 'Above' : 'NotAbove'
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(answerAll)
    waiting.push({ resolve, answer })
  })
}
