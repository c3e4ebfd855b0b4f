/** What peers of other runtimes need of the machine. */
import { spawnSync } from 'node:child_process'
import { messageOf } from '../src/kernel/errors.ts'
import { buildEkuiper } from './ekuiper/ekuiper.ts'

/** Throws when it is not there, or what it is there for cannot be built with it. */
const NEEDS = {
  java: () => expectTools(['javac', 'mvn'], '-version'),
  ekuiper() {
    expectTools(['go'], 'version')
    buildEkuiper()
  },
} as const

const known = new Map<string, boolean>()

/** Whether it is there; when it is not, says once that `peer` is left out. */
export function isThere(need: keyof typeof NEEDS, peer: string): boolean {
  const before = known.get(need)
  if (before !== undefined) return before
  try {
    NEEDS[need]()
    known.set(need, true)
  } catch (error) {
    process.stderr.write(`bench: ${peer} is left out: ${messageOf(error)}\n`)
    known.set(need, false)
  }
  return known.get(need) === true
}

/** `asked`: how each of them says its version */
function expectTools(tools: readonly string[], asked: string): void {
  const missing = tools.filter((tool) => spawnSync(tool, [asked], { stdio: 'ignore' }).status !== 0)
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} cannot be run`)
}
