/**
 * Prints `N passed, N failed` from vitest's JSON report. A test file that fell before its tests counts as one failure,
 * and so does a report that is not there: then no test has run.
 */
import { readFileSync } from 'node:fs'

function counts(path) {
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'))
    let failed = 0
    for (const file of testResults) {
      const tests = file.assertionResults.filter((test) => test.status === 'failed').length
      failed += tests > 0 ? tests : Number(file.status === 'failed')
    }
    return { passed: numPassedTests, failed }
  } catch (error) {
    console.log(`no report of the tests: ${error.message}`)
    return { passed: 0, failed: 1 }
  }
}

const { passed, failed } = counts(process.argv[2])
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
