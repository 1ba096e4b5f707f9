/** True in `npm test -- --full`, which runs every generated test at its full volume and every suite on every store. */
export const isFullRun = (): boolean => process.env['SVC_TEST_FULL'] === '1'
