/* What a page of gradus report looks like, for test_report.py: put behind its own script, it leaves a text "probe". */
'use strict';
(() => {
  const laidOut = document.body.offsetHeight > 0 && performance.now(); /* ms since the page was asked for */

  /* Red, green and blue of a computed colour, 0 to 1, as a canvas paints it. */
  const point = Object.assign(document.createElement('canvas'), {width: 1, height: 1});
  const canvas = point.getContext('2d', {willReadFrequently: true});
  const paint = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((x) => x / 255);
  };
  const luminance = (colour) => {
    const [r, g, b] = paint(colour).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const paper = getComputedStyle(document.body).backgroundColor;
  const all = (selector, node = document) => [...node.querySelectorAll(selector)];

  /* What has less contrast than WCAG 2.1 asks for: 4.5 of texts, 3 of what is drawn. */
  const words = (node) => {
    const marked = node.closest('tr.flagged td, .warning');
    const behind = marked ? getComputedStyle(marked).backgroundColor : paper;
    return contrast(getComputedStyle(node).color, behind) < 4.5;
  };
  const faint = () => [
    ...all('svg.chart text').filter((node) => contrast(getComputedStyle(node).fill, paper) < 4.5),
    ...all('p, li, dt, dd, th button, td, summary').filter(words),
    ...all('svg.chart g.series').filter((node) => contrast(getComputedStyle(node).color, paper) < 3),
  ].map((node) => `${node.localName} ${node.textContent}`);

  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  function view(width) {
    document.getElementById('page').style.width = `${width}px`;
    drawAll();
    const overlaps = [], outside = [];
    for (const chart of all('svg.chart')) {
      const frame = chart.getBoundingClientRect(), texts = all('text', chart), ends = all('text.end', chart);
      const box = (node) => node.getBoundingClientRect();
      for (const end of ends)
        for (const text of texts)
          if (end !== text && meets(box(end), box(text))) overlaps.push(`${end.textContent} / ${text.textContent}`);
      for (const end of ends)
        for (const mark of all('.mark', chart))
          if (meets(box(end), box(mark))) overlaps.push(`${end.textContent} / ${mark.textContent}`);
      for (const text of texts)
        if (box(text).left < frame.left - 1 || box(text).right > frame.right + 1 || box(text).bottom > frame.bottom + 1)
          outside.push(text.textContent);
    }
    const first = document.querySelector('figure.accuracy svg.chart');
    const swatches = all('figure.accuracy ul.legend svg');
    const means = first ? all('.mean, .interval, .mark', first).map((node) => node.getBoundingClientRect()) : [];
    const grid = first ? all('.grid', first).map((node) => node.getBoundingClientRect().top) : [];
    const height = Math.max(...grid) - Math.min(...grid);
    return {
      width,
      overlaps,
      outside,
      wider: document.getElementById('page').scrollWidth > width,
      named: swatches.length,
      dashes: new Set(swatches.map((node) => node.querySelector('line').getAttribute('stroke-dasharray'))).size,
      markers: new Set(swatches.map((node) => node.querySelector('path').getAttribute('d'))).size,
      filled: (Math.max(...means.map((box) => box.bottom)) - Math.min(...means.map((box) => box.top))) / height,
      ends: first ? all('text.end', first).length : 0,
    };
  }

  const found = {faint: faint(), views: [view(1040), view(340)]};
  found.milliseconds = laidOut;
  found.machine = all('figure.machine svg.chart title').map((node) => node.textContent);
  found.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  found.figures = all('figure').map((node) => node.className);
  found.commands = all('figure pre').filter((node) => node.textContent.includes('gradus report ')).length;
  const table = all('table').pop(), heading = all('th button', table).find((node) => node.textContent === 'batch');
  found.rows = all('tbody tr', table).length;
  found.flagged = all('tbody tr.flagged', table).length;
  heading.click();
  found.sorted = all('tbody tr', table).map((line) => Number(line.children[1].textContent.replace(',', '')));
  found.constant = all('figure.accuracy .constant').length;
  found.against = all('figure.accuracy input').map((input) => {
    input.click();
    const labels = all('figure.accuracy svg.chart text.quiet');
    return labels.find((node) => node.getAttribute('text-anchor') === 'middle').textContent;
  });
  const chart = document.querySelector('svg.chart');
  const saved = chart ? standalone(chart) : '';
  const names = all('figure.accuracy ul.legend li').map((node) => node.textContent);
  found.unnamed = names.filter((name) => !(new DOMParser()).parseFromString(saved, 'text/xml').documentElement
    .textContent.includes(name));
  found.saved = {whole: saved.startsWith('<svg') && saved.includes(`xmlns="${SVG}"`), colours: saved.match(/color\(/g)};
  found.complaints = complaints;
  const text = Object.assign(document.createElement('pre'), {id: 'probe'});
  text.textContent = JSON.stringify(found).replace(/[<>&]/g, ' ');
  document.body.append(text);
})();
