/** Writes the results of example tests in the form of JUnit, which build servers read. */
import { escapeMarkup } from '#kernel'
import type { FileResult } from './run-case.ts'

const NOT_IN_XML = /[^\t\n\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

export function junit(files: readonly FileResult[]): string {
  const suites = files.map(({ file, cases }) => {
    const failures = cases.filter(({ problems }) => problems.length > 0).length
    const entries = cases.map(({ name, problems }) => {
      const start = `    <testcase classname="${escaped(file)}" name="${escaped(name)}"`
      if (problems.length === 0) return `${start}/>`
      const [first = ''] = (problems[0] ?? '').split('\n')
      return `${start}>\n      <failure message="${escaped(first)}">${escaped(problems.join('\n'))}</failure>\n    </testcase>`
    })
    const head = `  <testsuite name="${escaped(file)}" tests="${cases.length}" failures="${failures}">`
    return [head, ...entries, '  </testsuite>'].join('\n')
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}

function escaped(text: string): string {
  return escapeMarkup(text).replaceAll(NOT_IN_XML, '?')
}
