/** Formats results as tables. Medians over the rounds; shares are ratios of medians of this run. */
import type { Row, Section } from './measurement.ts'

export function report(sections: readonly Section[]): string {
  return sections
    .flatMap((one) => [{ title: one.title, rows: one.rows() }, ...one.conclusions()])
    .map(({ title, rows }) => table(title, rows))
    .join('\n')
}

export function failures(sections: readonly Section[]): readonly string[] {
  return sections.flatMap((section) =>
    section.lines.flatMap(({ title, failure }) =>
      failure === undefined ? [] : [`${section.name}, ${title}: ${failure}`],
    ),
  )
}

/** Aligns columns, the first to the left. */
export function table(title: string, rows: readonly Row[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
}
