/**
 * Pure building blocks for every room: coded errors, issues, plain JSON, durations, instants, queues. No clock, disk or
 * network.
 */
export { AllowList, problemsOfAllowed } from './allow-list.ts'
export type { Actor } from './actor.ts'
export type { Caller, Causation } from './caller.ts'
export { type Difference, differenceOf } from './difference.ts'
export type { CancelSignal } from './cancel-signal.ts'
export { CpuAllowance, type CpuRate } from './cpu-allowance.ts'
export { csvText, withoutFormula } from './csv-text.ts'
export { decodedText } from './decoded-text.ts'
export { hasDigits } from './digit-runs.ts'
export { DURATION_PATTERN, durationMs } from './duration.ts'
export { EPOCH_UNITS, type EpochUnit, msOf, otherUnitOf, unitName } from './epoch-unit.ts'
export {
  AppError,
  describeIssue,
  type ErrorCode,
  ERRORS,
  isAway,
  isRefusal,
  type Issue,
  type PatchOperation,
  messageOf,
  secondsToWait,
  validationError,
} from './errors.ts'
export { type ExpectedVersion, requireVersion, type RevisionOptions } from './expected-version.ts'
export { errorOf, type Failure, failureOf } from './failure.ts'
export { isFinalStatus } from './final-status.ts'
export { Feed, type FeedReader, type LogPosition, type Passed, type Published, type ReaderOptions } from './feed.ts'
export { hashText } from './hash-text.ts'
export { Heap } from './heap.ts'
export { MAX_HOPS } from './hops.ts'
export { isTooLongForId, MAX_ID_BYTES, UNSTORABLE } from './ids.ts'
export { isInstant, isoInstant, notAnInstant } from './instant.ts'
export { isAddress } from './ip-address.ts'
export {
  adding,
  type Fix,
  Issues,
  issuesText,
  kindOf,
  makeIssue,
  movedTo,
  refuse,
  refusedBy,
  removing,
  renaming,
  replacing,
  shown,
} from './issues.ts'
export {
  FORBIDDEN_KEYS,
  hasKeysOf,
  haveSameText,
  isPlainObject,
  type Json,
  type JsonObject,
  JsonText,
  ownValue,
  present,
  sameJson,
} from './json.ts'
export { KeyedMutex } from './keyed-mutex.ts'
export { KeyedSharedLock } from './keyed-shared-lock.ts'
export { Semaphore } from './semaphore.ts'
export type { Logger } from './logger.ts'
export { isLongInteger, type LongInteger, longIntegersOf, shownDigits } from './long-integers.ts'
export { LruCache } from './lru-cache.ts'
export { escapeMarkup } from './markup.ts'
export { jsonProblem, MAX_JSON_DEPTH, parsePlainJson } from './json-limits.ts'
export { JsonPacker, type PackedJson, unpack } from './packed-json.ts'
export { nearest } from './nearest.ts'
export type { Page } from './page.ts'
export { at, stepsOf } from './pointer.ts'
export { nextSeed, randomOf, seedOf } from './random.ts'
export { redactedDeep, redacting } from './redact.ts'
export { Deadline } from './deadline.ts'
export {
  ALL_RIGHTS,
  commonScopes,
  hasScope,
  type KeyResources,
  requireScope,
  type Rights,
  type Scope,
  SCOPES,
} from './rights.ts'
export { type Ended, ReorderBuffer } from './reorder-buffer.ts'
export { RepeatableWork } from './repeatable-work.ts'
export { countKeys, repeatedKeysOf } from './repeated-keys.ts'
export { RateLimitedLogger } from './rate-limited-logger.ts'
export type { StartTimer } from './start-timer.ts'
export { topicFits } from './topic-filter.ts'
export { TransientMap } from './transient-map.ts'
export { isStoreConflict, retryOnConflict, writtenMeanwhile } from './retry-on-conflict.ts'
export {
  countIn,
  DECIMAL,
  isEqual,
  isExact,
  isKnown,
  MAX_DECIMAL,
  MAX_DIGITS,
  numberIn,
  numberOfText,
  ofData,
  ordered,
  slackOf,
  whyNoNumber,
  whyUnknown,
} from './values.ts'
export { weighsMore } from './weight.ts'
export {
  isWrittenInteger,
  KEEPS_WRITTEN_INTEGERS,
  parseWritten,
  withoutWritten,
  withWritten,
} from './written-integers.ts'
export { decodeNumbers, encodeNumbers } from './json-numbers.ts'
export { Yielder } from './yielder.ts'
export { withFirst } from './with-first.ts'
