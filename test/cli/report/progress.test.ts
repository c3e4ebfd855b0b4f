import { describe, expect, it } from 'vitest'
import { Progress } from '../../../src/cli/report/progress.ts'

function bar() {
  const drawn: string[] = []
  const clock = { now: 0 }
  const progress = new Progress(
    (text) => void drawn.push(text),
    () => clock.now,
  )
  return { drawn, clock, progress }
}

describe('Progress', () => {
  it('is drawn at most ten times a second, on one line', () => {
    const { drawn, clock, progress } = bar()
    for (clock.now = 0; clock.now <= 1000; clock.now++) progress.show(clock.now / 1000, 'x')
    expect(drawn).toHaveLength(10)
    expect(drawn[4]).toBe(`\r\u001b[2K${'█'.repeat(15)}${'░'.repeat(15)}  50 %  x`)
  })

  it('leaves nothing behind', () => {
    const { drawn, clock, progress } = bar()
    progress.clear()
    expect(drawn).toEqual([])
    clock.now = 200
    progress.show(0.2, 'x')
    progress.clear()
    expect(drawn.at(-1)).toBe('\r\u001b[2K')
  })

  it.each([Number.NaN, -1, 7, Number.POSITIVE_INFINITY])('survives a share of %d', (share) => {
    const { drawn, clock, progress } = bar()
    clock.now = 200
    progress.show(share, 'x')
    expect(drawn[0]).toMatch(/ (?:0|100) % {2}x$/)
  })
})
