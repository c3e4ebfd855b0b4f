/** Requirements of peers of other runtimes. */
import { spawnSync } from 'node:child_process'
import { messageOf } from '../src/kernel/errors.ts'
import { buildEkuiper } from './ekuiper/ekuiper.ts'

/** Throws when the tools are missing or fail to build the peer. */
const NEEDS = {
  java: () => expectTools(['javac', 'mvn'], '-version'),
  ekuiper() {
    expectTools(['go'], 'version')
    buildEkuiper()
  },
} as const

const known = new Map<string, boolean>()

/** Reports a skipped peer once. */
export function isThere(need: keyof typeof NEEDS, peer: string): boolean {
  const before = known.get(need)
  if (before !== undefined) return before
  try {
    NEEDS[need]()
    known.set(need, true)
  } catch (error) {
    process.stderr.write(`bench: ${peer} is skipped: ${messageOf(error)}\n`)
    known.set(need, false)
  }
  return known.get(need) === true
}

/** `asked`: version flag */
function expectTools(tools: readonly string[], asked: string): void {
  const missing = tools.filter((tool) => spawnSync(tool, [asked], { stdio: 'ignore' }).status !== 0)
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found`)
}
