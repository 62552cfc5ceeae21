/* --- tables.js: tables that sort. --- */

/* Numbers by size and words by the alphabet; what is not there comes last. */
function compareValues(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined || a === '') return 1;
  if (b === null || b === undefined || b === '') return -1;
  return isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
}

function sortBy(state, column) {
  const turned = state.column === column && state.direction === 1;
  Object.assign(state, {column, direction: turned ? -1 : 1});
  const missing = (x) => x === null || x === undefined || x === '';
  state.rows.sort((a, b) => {
    const x = column.of(a), y = column.of(b);
    return (missing(x) || missing(y) ? 1 : state.direction) * compareValues(x, y);
  });
}

function makeCell(column, row) {
  const value = column.of(row), there = value !== null && value !== undefined;
  return element('td', {class: column.kind || null},
    !there            ? '' :
      column.text     ? column.text(value, row) :
      isNumber(value) ? short(value) :
                        String(value));
}

/* columns: [{name, of(row), text(value, row), kind: 'text' or 'long'}]; flagged(row): stands out. */
function makeTable(caption, columns, rows, flagged = () => false) {
  const body = element('tbody'), state = {rows: [...rows]};
  const heads = columns.map((column) => {
    const button = element('button', {type: 'button'}, column.name);
    const head = element('th', {scope: 'col', class: column.kind || null}, button);
    button.addEventListener('click', () => {
      sortBy(state, column);
      show();
    });
    return head;
  });
  function show() {
    heads.forEach((head, i) => {
      head.removeAttribute('aria-sort');
      if (columns[i] === state.column)
        head.setAttribute('aria-sort', state.direction === 1 ? 'ascending' : 'descending');
    });
    body.replaceChildren(...state.rows.map((row) => element('tr', {class: flagged(row) ? 'flagged' : null},
                                             columns.map((column) => makeCell(column, row)))));
  }
  show();
  return element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    element('table', null, element('thead', null, element('tr', null, heads)), body));
}

function meansTable(group) {
  const lines = group.kinds.flatMap((kind) => kind.cells.map((cell) => ({...cell, kind})))
                  .filter((line) => line.rows.length);
  const columns = [
    {name: 'runs of', of: (line) => line.kind.name, kind: 'text'},
    {name: 'batch', of: (line) => line.batch, text: whole},
    {name: 'updates', of: (line) => line.updates, text: whole},
    {name: 'done', of: (line) => line.done.length, text: (n, line) => `${n} of ${line.rows.length}`},
    {name: 'test accuracy, %', of: (line) => line.test_accuracy, text: percent},
    {name: '± (95 %)', of: (line) => line.half_width_95, text: percent},
    {name: 'set error', of: (line) => line.set_error, text: percent},
    {
      name: 'constant',
      of: (line) => line.done.filter((row) => row.constant).length,
      text: (n) => (n ? String(n) : '')
    },
    {name: 'samples/s', of: (line) => line.samples_per_second, text: short},
    {name: 'MiB', of: inUnits('peak_bytes', 2 ** -20), text: short},
  ].filter((column) => lines.some((line) => column.of(line)));
  return [
    element('h2', null, 'Means'), makeTable('Means', columns, lines),
    element('p', {class: 'note'},
      '±: half the 95 % interval of the mean (Student\'s t), from two runs on. set error: the standard error that ' +
        'comes from the size of the test set alone. constant: runs that gave every test sample the same answer.')
  ];
}

function runsTable(group) {
  const rows = group.kinds.flatMap((kind) => kind.cells.flatMap((cell) => cell.rows.map((row) => ({...row, kind}))));
  const plain = (key, name, text) => ({name, of: (row) => row[key], text});
  const columns = [
    {name: 'run of', of: (row) => row.kind.name, kind: 'text'},
    plain('batch', 'batch', whole),
    plain('seed', 'seed', String),
    plain('epochs', 'epochs', whole),
    plain('updates', 'updates', whole),
    plain('samples', 'samples', whole),
    plain('lr', 'rate'),
    plain('train_loss', 'train loss'),
    plain('val_accuracy', 'val. acc., %', percent),
    plain('test_accuracy', 'test acc., %', percent),
    plain('test_loss', 'test loss'),
    plain('seconds', 'seconds'),
    plain('samples_per_second', 'samples/s'),
    {name: 'MiB', of: inUnits('peak_bytes', 2 ** -20)},
    plain('cores_busy', 'cores'),
    plain('model_gflops', 'GFLOP/s'),
    {name: 'MFU, %', of: inUnits('mfu', 100)},
    {...plain('state', 'state'), kind: 'text'},
    {name: 'note', of: (row) => (row.constant ? 'constant answer' : row.error || null), kind: 'long'},
  ].filter((column) => rows.some((row) => column.of(row) !== null && column.of(row) !== undefined));
  return [
    element('h2', null, 'Runs'), makeTable('Runs', columns, rows, (row) => row.constant || row.state !== 'done'),
    element('p', {class: 'note'},
      `${counted(rows.length, 'run')}; a heading sorts. Marked: runs that are not done, or that gave every test ` +
        'sample the same answer. The folder\'s results.jsonl has everything of each run.')
  ];
}
