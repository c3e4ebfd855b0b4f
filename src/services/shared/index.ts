/** Everything that services share: routes and bodies, ordered effects, series and calendars. */
export type { Checked } from './api/check.ts'
export { Flag, type Parameters, parameterReader, Text, Texts, Whole } from './api/parameters.ts'
export { addRoutes, callerOf, type Route, routesOf } from './api/route.ts'
export { documentRoutes } from './documents/document-routes.ts'
export { headOf, NamedDocuments, type NamedRecord, requireName } from './documents/named-documents.ts'
export { type EffectDraft, EffectLedger, type EffectOfTask } from './effect-order.ts'
export { answerPreflight } from './http/answer-preflight.ts'
export { isAddressable, NOT_ADDRESSABLE } from './http/addressable.ts'
export { bodyBytes, partsOf } from './http/body-bytes.ts'
export { queryFaults } from './http/check-query.ts'
export {
  type Conditions,
  type ConditionText,
  type NegatedConditions,
  readConditions,
  readNegatable,
  TextProblem,
} from './http/condition-text.ts'
export { foreignPage, mayBeAttached, refusedPage } from './http/foreign-page.ts'
export { FORM_TYPE, formEntries } from './http/form-entries.ts'
export { linkTo, linkWith } from './http/links.ts'
export { type ItemResult, itemResults } from './http/item-results.ts'
export {
  EVENTS_MEDIA_TYPE,
  HAL_MEDIA_TYPE,
  NDJSON_MEDIA_TYPE,
  PAGED_MEDIA_TYPE,
  pagedTypeOf,
  TIMELINE_MEDIA_TYPE,
  timelineTypeOf,
} from './http/media-types.ts'
export { bodyText, parseBody, parseMessages, parseRendered, readBody } from './http/parse-body.ts'
export { parsePayload, Payload, payloadValue } from './http/payload.ts'
export { errorBodyOfLines, issueLine, type Refusal } from './http/refusal.ts'
export { HERE, sendEvents, sendLines, sendTexts, STILL_HERE, untilClosed } from './http/send-stream.ts'
export { revisionCondition, withTag, writeCondition } from './http/write-condition.ts'
export { type AggregateDefinition, COMMON_AGGREGATES, finite, percentileOf } from './series/common-aggregates.ts'
export { type Aggregate, type GroupRun, type GroupValues, valuesOfGroups } from './series/group-values.ts'
export {
  beginOfPeriod,
  lastAtOrBefore,
  offsetMs,
  periodOf,
  type PeriodUnit,
  skippedDays,
} from './series/local-periods.ts'
export { type LookUp, type NamedResource, requireOwn } from './own-resources.ts'
export { SampleReader } from './series/sample-reader.ts'
export { MAX_TIME } from './series/times.ts'
export type { ServerEvent } from './http/server-event.ts'
export { headerOfList } from './http/header-list.ts'
