/** Takes all samples round by round, so that a slow minute of the machine affects every line alike. */
import { join } from 'node:path'
import type { Section } from './measurement.ts'

export const ROOT = join(import.meta.dirname, '..')

export async function runRounds(
  sections: readonly Section[],
  rounds: number,
  progress: (text: string) => void,
): Promise<void> {
  const jobs = sections.flatMap((section) =>
    section.lines.map((line) => ({ line, label: `${section.name}, ${line.title}` })),
  )
  for (let round = 1; round <= rounds; round++) {
    for (const [i, { line, label }] of jobs.entries()) {
      if (line.failure !== undefined || round > line.maxRounds) continue
      progress(`round ${round} of ${rounds}, ${i + 1} of ${jobs.length}: ${label}`)
      try {
        line.samples.push(await line.sample(ROOT))
      } catch (error) {
        // one wrong count or crash discards the line
        line.failure = error instanceof Error ? error.message : String(error)
      }
    }
  }
}
