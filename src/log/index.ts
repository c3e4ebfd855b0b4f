/** The log of a tenant, which records all input from outside. */
export { type Floor, KEPT_MARK_ID, type LogPruner, type Mark, MARK_ID, MARKS } from './log-pruner.ts'
export {
  ARRIVAL_TIME,
  KEPT_EVENTS,
  isInput,
  isKept,
  type KeptMessage,
  LOG_NAME,
  type LoggedMessage,
  messageBody,
  messagesOfEntry,
  type RoutedMessage,
} from './message-entry.ts'
export { type Followed, type LogEngine, type LogInput, type NewEntry, TenantLog, type UnitSpan } from './tenant-log.ts'
