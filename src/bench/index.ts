/** Entry point `reflexarc/bench`: benchmarks a rule over messages, in Node only. */
export { benchRule, type Against, type BenchRuleOptions } from './bench-rule.ts'
export type { Baseline } from './compare-lines.ts'
export { benchReport, latencyPlot, type Layout } from './report.ts'
export type { LatencySample, Listen, RateSample } from './request.ts'
export type { BenchComparison, BenchLine, BenchResult, LineName } from './result.ts'
export type { Comparison, Estimate, Verdict } from './statistics.ts'
