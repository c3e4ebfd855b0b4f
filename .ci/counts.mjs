/**
 * Prints `N passed, N failed`, the sums over vitest's JSON reports that it is started with. A test file that fell before
 * its tests counts as one failure, and so does a report that is not there: then no test of that run has run.
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

const reports = process.argv.slice(2).map(counts)
const sum = (name) => reports.reduce((total, report) => total + report[name], 0)
const [passed, failed] = [sum('passed'), sum('failed')]
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
